#pragma once

#include <cstdint>
#include <vector>

#include "core/model.h"
#include "dist/mesh.h"
#include "launcher/bench/bench_run.h"
#include "launcher/cost/forward_products.h"

namespace ut::launcher {

/// The matrix products of this rank's part of an update's forward pass, as they are made. Collective over the ranks
/// that share sequences.
std::vector<Product> products_of_update(const core::ModelOptions& model, const UpdateMade& made,
                                        const dist::Mesh& mesh);

/// Seconds that these products, and the two of each in the backward pass, take alone: one after the other, on matrices
/// already in memory. `options`: of the matrices.
double time_of_products(const std::vector<Product>& forward, const at::TensorOptions& options);

}  // namespace ut::launcher
