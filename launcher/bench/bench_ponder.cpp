#include "launcher/bench/bench_ponder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "base/philox.h"
#include "launcher/cost/ponder_shares.h"

namespace ut::launcher {

DrawnPonder::DrawnPonder(double mean, std::int64_t most, std::uint64_t key)
    : cumulative_(ponder_shares(mean, most)), key_(key) {
  std::partial_sum(cumulative_.begin(), cumulative_.end(), cumulative_.begin());
  cumulative_.back() = 1;  // makes up for rounding
}

std::int64_t DrawnPonder::operator()(std::int64_t sequence, std::int64_t position) const {
  const auto words = base::philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
                                   static_cast<std::uint32_t>(sequence), static_cast<std::uint32_t>(sequence >> 32)},
                                  key_);
  const double drawn = base::uniform(words[0]);
  return std::ranges::upper_bound(cumulative_, drawn) - cumulative_.begin() + 1;
}

core::HaltingDraw halting_draw(const LastStep& last_step, double threshold) {
  return [last_step, threshold](std::int64_t step, const dist::Rows& rows) {
    // Above any threshold: the row halts at its last step. Its weight there is the remainder, whatever this value is.
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
