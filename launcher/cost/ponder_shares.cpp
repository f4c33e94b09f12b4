#include "launcher/cost/ponder_shares.h"

#include <cmath>
#include <numeric>

namespace ut::launcher {
namespace {

/// [most]: how likely 1, 2, …, most steps are, where each is exp(slope) times as likely as the one before.
std::vector<double> geometric(double slope, std::int64_t most) {
  std::vector<double> shares;
  for (std::int64_t n = 0; n < most; ++n)
    shares.push_back(std::exp(slope * static_cast<double>(slope > 0 ? n - (most - 1) : n)));  // no overflow
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
  constexpr double steep = 1000;  // all but the first, or the last, are zero: exp(-1000)
  double low = -steep;
  double high = steep;
  if (mean <= 1) return geometric(low, most);
  if (mean >= static_cast<double>(most)) return geometric(high, most);
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (mean_steps(geometric(middle, most)) < mean ? low : high) = middle;
  }
  return geometric(high, most);
}

}  // namespace ut::launcher
