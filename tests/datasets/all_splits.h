#pragma once

#include "datasets/task.h"

namespace ut::datasets {

inline constexpr Split all_splits[] = {Split::train, Split::validation, Split::test};

}  // namespace ut::datasets
