#pragma once

#include "core/parameters.h"
#include "tests/golden/comparison.h"

namespace ut::golden {

/// Fills the parameters from the case's `weights/`; where ours joins several of theirs, they are put side by side.
/// Throws base::BadInput where one is missing or of another size.
void load_weights(const Case& golden, core::Norm norm, const core::Parameters& parameters);

/// Throws NotSupported where the case has weights that nothing was filled from.
void require_all_weights_used(const Case& golden);

/// The parameters' gradients against the case's arrays under `prefix` (grad/, grad_act_loss/).
void compare_gradients(Comparison& comparison, core::Norm norm, const core::Parameters& parameters,
                       const std::string& prefix);

/// The parameters against the case's arrays under `prefix` (weights_after_2/).
void compare_weights(Comparison& comparison, core::Norm norm, const core::Parameters& parameters,
                     const std::string& prefix);

}  // namespace ut::golden
