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
  std::int64_t rows;       // mean number that run in a step
  std::int64_t copied;     // rows whose keys and values are made once more, after they halted
  std::int64_t sequences;  // that the rows are of
  std::int64_t length;     // of a sequence, over all ranks; mean
};

/// What a forward pass does.
struct UpdateWork {
  std::optional<StackWork> encoder = {};  // where there is one, with the one below
  std::int64_t memory_rows = 0;           // of its last states
  std::optional<StackWork> decoder = {};  // where there is one
  std::int64_t labels = 0;
};

/// Rounded to the nearest; 0 where nothing is divided.
std::int64_t rounded_quotient(std::int64_t dividend, std::int64_t divisor);

/// The products of a forward pass, without padding: sequences count with their mean length and steps with the mean
/// number of rows that run in them. Attention counts what a causal mask hides, too.
std::vector<Product> forward_products(const core::ModelOptions& model, const UpdateWork& work);

/// Multiplications and additions in the matrix products of an update, forward and backward.
double flops_of_update(const std::vector<Product>& forward);

/// Of an update on this batch: where positions halt, when all take one step, and when all take the most; and what each
/// step more of all positions adds, 0 where there is no such stack.
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
