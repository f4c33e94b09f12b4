#pragma once

#include <span>

#include "core/decoding.h"
#include "core/options.h"
#include "datasets/task.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// The model's shape as the options give it. What a task has to say of it is left as it is there.
core::ModelOptions model_options(const Options& options);
/// As options and task together give it.
core::ModelOptions model_options(const Options& options, const datasets::Task& task);

/// As `ut bench` and `ut plan` have it, which work on no task.
core::ModelOptions bench_model(const Options& options);

/// The steps that the options ask for, of halting stacks the most; they may differ from those the model was trained
/// with.
core::Steps steps_of(const Options& options);

/// As evaluate and decode are to make outputs of these examples.
core::DecodingOptions decoding_options(const Options& options, const datasets::Task& task,
                                       std::span<const datasets::Example> examples);

}  // namespace ut::launcher
