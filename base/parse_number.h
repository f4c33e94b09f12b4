#pragma once

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace ut::base {

/// `text` as a number. Nothing if it is not one, if anything follows the number, or if it is out of the range of
/// `Number`.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const begin = std::to_address(text.begin());
  const char* const end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace ut::base
