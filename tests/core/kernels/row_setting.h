#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <ostream>

namespace ut::core {

struct RowSetting {
  at::ScalarType type;
  double rate;
  std::int64_t columns;
};

inline std::ostream& operator<<(std::ostream& stream, const RowSetting& setting) {
  return stream << toString(setting.type) << "_rate" << 100 * setting.rate << "_columns" << setting.columns;
}

}  // namespace ut::core
