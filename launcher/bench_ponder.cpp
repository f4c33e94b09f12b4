#include "launcher/bench_ponder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"

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

std::vector<double> shares_with_mean(double mean, std::int64_t most) {
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

}  // namespace

DrawnPonder::DrawnPonder(double mean, std::int64_t most, std::uint64_t key)
    : cumulative_(shares_with_mean(mean, most)), key_(key) {
  std::partial_sum(cumulative_.begin(), cumulative_.end(), cumulative_.begin());
  cumulative_.back() = 1;  // whatever was lost in rounding
}

std::int64_t DrawnPonder::operator()(std::int64_t sequence, std::int64_t position) const {
  const auto words = base::philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
                                   static_cast<std::uint32_t>(sequence), static_cast<std::uint32_t>(sequence >> 32)},
                                  key_);
  const double drawn = (words[0] + 0.5) * 0x1p-32;  // in (0, 1)
  return std::ranges::upper_bound(cumulative_, drawn) - cumulative_.begin() + 1;
}

core::HaltingDraw halting_draw(const LastStep& last_step, double threshold) {
  return [last_step, threshold](std::int64_t step, const dist::Rows& rows) {
    // At its last step a row stops whatever the threshold is; only the weight that is left then counts.
    constexpr double stops = 2;
    at::Tensor result = at::empty({rows.count()}, at::kDouble);
    auto* probability = result.mutable_data_ptr<double>();
    const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
    const auto* position = rows.position.const_data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < rows.count(); ++row) {
      const std::int64_t last = last_step(sequence[row], position[row]);
      probability[row] = step < last ? threshold / static_cast<double>(last) : stops;
    }
    return result;
  };
}

}  // namespace ut::launcher
