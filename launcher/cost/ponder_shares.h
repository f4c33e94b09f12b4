#pragma once

#include <cstdint>
#include <vector>

namespace ut::launcher {

/// [most]: the shares of rows that take 1, 2, …, most steps, with this mean, in 1..most, and otherwise the largest
/// entropy: the share of n steps is proportional to ratio^n.
std::vector<double> ponder_shares(double mean, std::int64_t most);

}  // namespace ut::launcher
