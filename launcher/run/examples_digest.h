#pragma once

#include <string>

#include "datasets/task.h"

namespace ut::launcher {

/// Of the split's size and of 64 of its examples or so, from all over it: another one is of other examples.
std::string examples_digest(const datasets::Task& task, datasets::Split split);

}  // namespace ut::launcher
