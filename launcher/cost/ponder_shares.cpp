#include "launcher/cost/ponder_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ut::launcher {
namespace {

/// [most]: the probabilities of 1, 2, …, most steps, each exp(slope) times the one before.
std::vector<double> geometric(double slope, std::int64_t most) {
  std::vector<double> shares;
  const double ratio = std::exp(-std::abs(slope));
  for (double share = 1; std::ssize(shares) < most; share *= ratio) shares.push_back(share);
  if (slope > 0) std::ranges::reverse(shares);  // built from the most likely on, so that nothing overflows
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

double mean_steps(const std::vector<double>& shares) {
  double mean = 0;
  for (std::size_t n = 0; n < shares.size(); ++n) mean += static_cast<double>(n + 1) * shares[n];
  return mean;
}

}  // namespace

std::vector<double> ponder_shares(double mean, std::int64_t most) {
  constexpr double steep = 1000;  // exp(-1000) is zero: all shares but the first, or the last, vanish
  double low = -steep;
  double high = steep;
  if (mean <= 1) return geometric(low, most);
  if (mean >= static_cast<double>(most)) return geometric(high, most);
  for (int halving = 0; halving < 64; ++halving) {
    const double middle = (low + high) / 2;
    (mean_steps(geometric(middle, most)) < mean ? low : high) = middle;
  }
  return geometric(high, most);
}

}  // namespace ut::launcher
