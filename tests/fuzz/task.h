#pragma once

#include <span>

#include "datasets/task_options.h"

namespace ut::tests {

/// Makes the task and all of its examples, and runs `ut data check` on its files: only BadInput may be thrown, ids must
/// be of the vocabulary, and an example's text must be one that the task can read again. Returns whether it was taken.
bool try_task(const datasets::TaskOptions& options);

}  // namespace ut::tests
