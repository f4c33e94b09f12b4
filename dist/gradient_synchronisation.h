#pragma once

#include <ATen/core/Tensor.h>

#include "dist/communicator.h"

namespace ut::dist {

/// Sums the gradients of every rank's rows over all ranks: one all-reduce of the flat buffer that holds the gradients
/// of all parameters, however many steps the tied block was applied for. Losses are divided by the update's global
/// number of labels before their backward pass, so nothing is divided here.
inline void synchronise_gradients(const at::Tensor& flat_gradient, Communicator& world) {
  world.all_reduce_sum(flat_gradient, Purpose::gradients);
}

}  // namespace ut::dist
