#pragma once

#include <vector>

#include "dist/route.h"

namespace ut::dist {

/// held[rank]: row numbers, ascending. Returns [ranks]: the rows that each rank would hold, ascending, if all ranks had
/// the same number, give or take one, with as few rows moved as that takes. Returns nothing if no rows are to move: if
/// no rank has more than `balance` times the mean, if the fullest rank cannot have fewer, or if `balance` is 0.
std::vector<RowNumbers> balanced(const std::vector<RowNumbers>& held, double balance);

}  // namespace ut::dist
