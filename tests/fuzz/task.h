#pragma once

#include "datasets/task_options.h"

namespace ut::tests {

/// Runs `ut data check` on the task's files, then makes the task and up to 100 examples of each split. Only BadInput
/// may be thrown, ids must be in the vocabulary, and a text that outputs are scored against must be one line. Returns
/// whether the task was accepted.
bool try_task(const datasets::TaskOptions& options);

}  // namespace ut::tests
