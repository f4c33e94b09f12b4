#pragma once

#include <cstdint>
#include <vector>

#include "core/model.h"
#include "dist/mesh.h"
#include "launcher/bench_run.h"

namespace ut::launcher {

/// Matrix products of one shape: [matrices, rows, inner] x [matrices, inner, columns].
struct Product {
  std::int64_t matrices;
  std::int64_t rows;
  std::int64_t inner;
  std::int64_t columns;
  std::int64_t count;  // how often a forward pass makes it
};

/// The products of this rank's part of an update's forward pass, without padding: sequences count with their mean
/// length and steps with the mean number of rows that ran in them. Collective over the ranks that share sequences.
std::vector<Product> forward_products(const core::ModelOptions& model, const UpdateMade& made, const dist::Mesh& mesh);

/// The time that these products and the two of each in the backward pass take alone, one after the other, on matrices
/// that are there already: as long as 3 forward passes. Seconds. `options`: of the matrices.
double time_of_products(const std::vector<Product>& forward, const at::TensorOptions& options);

}  // namespace ut::launcher
