#pragma once

#include <span>

#include "core/decoding.h"
#include "core/options.h"
#include "datasets/task.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// The model's shape as the options give it. The fields that a task fills in are left as they are.
core::ModelOptions model_options(const Options& options);
/// The model's shape as options and task together give it.
core::ModelOptions model_options(const Options& options, const datasets::Task& task);

/// The shape of the model of `ut bench` and `ut plan`, which have no task.
core::ModelOptions bench_model(const Options& options);

/// The steps that the options ask for; for a stack that halts, the most. They may differ from those that the model was
/// trained with.
core::Steps steps_of(const Options& options);

/// How evaluate and decode make outputs for these examples.
core::DecodingOptions decoding_options(const Options& options, const datasets::Task& task,
                                       std::span<const datasets::Example> examples);

}  // namespace ut::launcher
