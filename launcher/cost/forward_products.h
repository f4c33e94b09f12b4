#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/options.h"
#include "datasets/batch.h"

namespace ut::launcher {

/// Matrix products of one shape: [matrices, rows, inner] x [matrices, inner, columns].
struct Product {
  std::int64_t matrices;
  std::int64_t rows;
  std::int64_t inner;
  std::int64_t columns;
  std::int64_t count;  // how often a forward pass makes it
};

/// What a stack does in a forward pass.
struct StackWork {
  std::int64_t steps;      // that are made
  std::int64_t rows;       // mean number of running rows in a step
  std::int64_t copied;     // halted rows whose keys and values are made once more
  std::int64_t sequences;  // that the rows belong to
  std::int64_t length;     // mean length of a sequence over all ranks
  // Rows of all ranks whose keys and values this rank makes, as states are sent; 0: only those of its own rows.
  std::int64_t projected = 0;
};

/// What a forward pass does.
struct UpdateWork {
  std::optional<StackWork> encoder = {};  // empty: there is none
  std::int64_t memory_rows = 0;           // rows of the encoder's last states
  std::optional<StackWork> decoder = {};  // empty: there is none
  std::int64_t labels = 0;
};

/// Whether attention includes what a causal mask hides. Kernels make only a part of it, in the blocks at its edge.
enum class Hidden { counted, left_out };

/// The quotient, rounded to the nearest; 0 if the divisor is 0.
std::int64_t rounded_quotient(std::int64_t dividend, std::int64_t divisor);

/// The matrix products of a forward pass without padding. Each sequence counts with the mean length, each step with the
/// mean number of running rows.
std::vector<Product> forward_products(const core::ModelOptions& model, const UpdateWork& work, Hidden hidden);

/// Multiplications and additions in the matrix products of an update, forward and backward.
double flops_of_update(const std::vector<Product>& forward);

/// The FLOP of an update on this batch. `least`: positions that halt take one step each; `most`: they take the most.
/// The other two are what one more step of all positions adds; 0 if there is no such stack.
struct FlopsRange {
  double least;
  double most;
  double encoder_step;
  double decoder_step;
};
FlopsRange flops_of_update(const core::ModelOptions& model, const datasets::Batch& batch);

/// "1.23 GFLOP", or "1.23 to 7.38 GFLOP".
std::string describe(const FlopsRange& flops);

}  // namespace ut::launcher
