#pragma once

#include <vector>

#include "dist/route.h"

namespace ut::dist {

/// held[rank]: numbers of rows, ascending -> who would hold which if every rank had as many, one more or less, with as
/// few moving as that takes; empty where nothing is to move: none has more than `balance` times the mean, they are as
/// even as can be, or `balance` is 0.
std::vector<RowNumbers> balanced(const std::vector<RowNumbers>& held, double balance);

}  // namespace ut::dist
