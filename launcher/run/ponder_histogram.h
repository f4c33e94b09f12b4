#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model.h"
#include "dist/communicator.h"

namespace ut::launcher {

/// How many rows of a stack took how many steps: its ponder times.
class PonderHistogram {
 public:
  /// `updates` [rows] int64: the steps that each row took; undefined: there are no rows. A device's tensor is counted
  /// later, by count_arriving() or sum_over(), so that the host need not wait for it here.
  void add(const at::Tensor& updates);
  /// Waits for the updates of a device, counts them, and gives back the host memory that they took.
  void count_arriving();
  /// Sums the counts over the ranks; `most`: the most steps of a row. Collective.
  void sum_over(dist::Communicator& world, std::int64_t most);
  void add(const PonderHistogram& other);

  std::int64_t rows() const;
  double mean() const;
  double standard_deviation() const;
  /// [most steps]: rows that took 1, 2, … steps.
  std::vector<std::int64_t> histogram() const;
  /// [most steps]: the share of the rows that took part in step 1, 2, ….
  std::vector<double> running_share() const;

 private:
  void count(const at::Tensor& updates);

  std::vector<std::int64_t> rows_;             // [n]: rows that took n steps
  std::vector<dist::PendingTensor> arriving_;  // from a device, not counted yet
};

/// The ponder times of both stacks; empty for a stack that does not halt or does not exist.
struct PonderHistograms {
  PonderHistogram encoder;
  PonderHistogram decoder;

  /// Adds what `prediction` says of the stacks that halt.
  void add(const core::Prediction& prediction, const core::HaltingOptions& halting);
  void add(const PonderHistograms& other);
  void count_arriving();
  void sum_over(dist::Communicator& world, const core::Steps& most);
  bool is_empty() const { return encoder.rows() + decoder.rows() == 0; }
  /// Over the rows of both stacks.
  double mean() const;
};

/// {"encoder": {"mean", "sd", "histogram", "running"}, "decoder": …}, of the stacks that halt.
nlohmann::ordered_json to_json(const PonderHistograms& ponder_times);
/// "ponder time 2.31 ± 0.85 in the encoder, 1.20 ± 0.40 in the decoder".
std::string describe(const PonderHistograms& ponder_times);

/// A line for each stack that halts, with the share of its rows that took 1, 2, … steps.
std::string describe_histogram(const PonderHistograms& ponder_times);

}  // namespace ut::launcher
