#pragma once

#include "core/options.h"
#include "tests/golden/comparison.h"

namespace ut::golden {

// A function for each kind of case: computes what the case asks for and compares all the numbers that the case gives.
// Each throws NotSupported if the case needs what the model under test does not have yet, base::BadInput if the case's
// arrays do not fit together.

/// Tables of signals.
void compare_timing(const Case& golden, core::Precision precision, Comparison& comparison);
/// Learning rates over updates, for the authors' named sets of hyper-parameters.
void compare_learning_rates(const Case& golden, core::Precision precision, Comparison& comparison);
/// One stack on given inputs: every step's state, the output, and the gradients of a weighted sum of the output.
void compare_encoder_stack(const Case& golden, core::Precision precision, Comparison& comparison);
void compare_decoder_stack(const Case& golden, core::Precision precision, Comparison& comparison);
/// The whole model on one batch: states, logits, losses, gradients.
void compare_full_model(const Case& golden, core::Precision precision, Comparison& comparison);
/// Some updates of the whole model: losses, learning rates, weights.
void compare_training(const Case& golden, core::Precision precision, Comparison& comparison);

}  // namespace ut::golden
