#pragma once

#include <cstdint>
#include <map>

namespace ut::datasets {

/// Sum over the classes of (count - expected)^2 / expected, if all classes are equally likely.
template <class Value>
double chi_square(const std::map<Value, std::int64_t>& counts, std::int64_t classes) {
  double total = 0;
  for (const auto& [value, count] : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(classes);
  const auto missing = classes - static_cast<std::int64_t>(counts.size());
  double sum = expected * static_cast<double>(missing);
  for (const auto& [value, count] : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

/// Far above what chance gives (mean classes - 1, standard deviation sqrt(2 (classes - 1))).
inline double loose_bound(std::int64_t classes) { return 2 * static_cast<double>(classes) + 20; }

}  // namespace ut::datasets
