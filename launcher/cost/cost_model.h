#pragma once

#include <cstdint>
#include <string>

#include "core/options.h"
#include "dist/exchange_options.h"
#include "launcher/cost/machine_numbers.h"

namespace ut::launcher {

/// What an update works on. For a stack that halts, `model` has the most steps of a position.
struct Workload {
  core::ModelOptions model;
  std::int64_t sequences = 64;  // of a micro-batch, over all ranks
  std::int64_t micro_batches = 1;
  double source_rows = 40;    // of a sequence, mean
  double target_rows = 40;    // of a sequence, mean; unused if the model has no decoder
  double length_spread = 1;   // mean of the squared lengths / square of their mean
  std::int64_t longest = 40;  // positions of the batch's longest sequence
  double ponder = 0;          // mean steps of a position that halts; 0: half of the most
  std::int64_t labels_per_sequence = 40;
};

/// How the ranks share the work.
struct Layout {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t sequence_parallel = 1;
  dist::ExchangeOptions exchange;

  std::int64_t ranks() const { return nodes * ranks_per_node; }
};

/// Predicted seconds of an update on the slowest rank.
struct Seconds {
  double products = 0;      // of rows and parameters
  double attention = 0;     // logits, softmax, dropout, weighted values
  double element_wise = 0;  // the rest of the work, by the bytes it moves
  double operations = 0;    // fixed costs of operations, as far as the work does not hide them
  double exchange = 0;      // waiting for other ranks' positions
  double gradients = 0;     // all-reduce
  double optimizer = 0;

  double total() const { return products + attention + element_wise + operations + exchange + gradients + optimizer; }
};

struct Prediction {
  Seconds seconds;
  double peak_bytes = 0;       // tensors of the rank with most
  double exchanged_bytes = 0;  // sent by all ranks
  double efficiency = 1;       // time of one rank alone / (ranks x this time)
};

/// Number of elements in all parameters.
double parameter_count(const core::ModelOptions& model);

/// Elements of the table of symbols, which comparisons of models leave out.
std::int64_t table_parameters(const core::ModelOptions& model);

/// Whether the ranks can share the work like this: every rank has work, and there are enough heads for a form that
/// shares them.
bool is_possible(const Workload& work, const Layout& layout);

/// A pure function: the same numbers give the same prediction everywhere. `layout` must be possible.
Prediction predict(const Workload& work, const Layout& layout, const MachineNumbers& machine);

}  // namespace ut::launcher
