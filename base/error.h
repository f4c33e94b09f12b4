#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ut::base {

/// `text` as one line that is safe to print on a terminal. Control characters, line separators and bytes that are not
/// UTF-8 are escaped (\n, \x1b). The middle of a long text is left out: the result has at most 1200 bytes.
std::string printable_line(std::string_view text);

/// What a person gave cannot be used: an option, a file, data, a checkpoint or the environment. The message is one line
/// that names the thing, says what is wrong and what would be right. The program ends with exit code 2.
class BadInput : public std::runtime_error {
 public:
  /// Escapes the message with printable_line(), since it may quote anything from a file.
  explicit BadInput(std::string_view message) : std::runtime_error(printable_line(message)) {}
  /// The same for the message that fmt::format() makes.
  template <typename First, typename... Others>
  BadInput(fmt::format_string<First, Others...> format, First&& first, Others&&... others)
      : BadInput(fmt::format(format, std::forward<First>(first), std::forward<Others>(others)...)) {}
};

}  // namespace ut::base
