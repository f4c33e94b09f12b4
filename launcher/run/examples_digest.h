#pragma once

#include <string>

#include "datasets/task.h"

namespace ut::launcher {

/// A digest of the split's size and of some 64 of its examples, from all over it. If it differs, the examples do.
std::string examples_digest(const datasets::Task& task, datasets::Split split);

}  // namespace ut::launcher
