#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ut::base {

/// The number that `text` is. Nothing where it is none, something follows, or it is too large for a `Number`.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace ut::base
