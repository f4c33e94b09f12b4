#pragma once

#include "core/parameters.h"
#include "tests/golden/comparison.h"

namespace ut::golden {

/// Fills the parameters from the case's `weights/`. If a parameter of ours joins several of theirs, they are put side
/// by side. Throws base::BadInput if one is missing or has another size.
void load_weights(const Case& golden, core::Norm norm, const core::Parameters& parameters);

/// Throws NotSupported if the case has weights that filled no parameter.
void require_all_weights_used(const Case& golden);

/// Compares the parameters' gradients with the case's arrays under `prefix` (grad/, grad_act_loss/).
void compare_gradients(Comparison& comparison, core::Norm norm, const core::Parameters& parameters,
                       const std::string& prefix);

/// Compares the parameters with the case's arrays under `prefix` (weights_after_2/).
void compare_weights(Comparison& comparison, core::Norm norm, const core::Parameters& parameters,
                     const std::string& prefix);

}  // namespace ut::golden
