#include "launcher/process/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ut::launcher {
namespace {

constexpr std::array<std::string_view, 9> prefixes = {"n", "µ", "m", "", "k", "M", "G", "T", "P"};
constexpr int no_prefix = 3;

constexpr double below_a_thousand = 999.5;  // rounded to three digits

/// Three significant digits, or all that stand before the point.
std::string three_digits(double amount) {
  if (amount == std::round(amount)) return fmt::format("{:.0f}", amount);
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(amount) * 1000 / below_a_thousand))) + 1;
  return fmt::format("{:.{}f}", amount, std::clamp(3 - before_point, 0, 3));
}

/// The amount in the unit with the prefix that leaves it below 1000. `least` and `most` bound the index of the prefix.
std::pair<double, std::string_view> scaled(double amount, int least, int most) {
  int prefix = no_prefix;
  for (; std::abs(amount) >= below_a_thousand && prefix < most; ++prefix) amount /= 1000;
  for (; amount != 0 && std::abs(amount) < below_a_thousand / 1000 && prefix > least; --prefix) amount *= 1000;
  return {amount, prefixes.at(static_cast<std::size_t>(prefix))};
}

}  // namespace

std::string readable(double amount, std::string_view unit) {
  const auto [number, prefix] = scaled(amount, 0, static_cast<int>(prefixes.size()) - 1);
  return fmt::format("{} {}{}", three_digits(number), prefix, unit);
}

std::string readable_count(double count) {
  const auto [number, prefix] = scaled(count, no_prefix, static_cast<int>(prefixes.size()) - 1);
  return three_digits(number) + std::string(prefix);
}

std::string readable_seconds(double seconds) {
  return seconds >= 1 ? three_digits(seconds) + " s" : readable(seconds, "s");
}

}  // namespace ut::launcher
