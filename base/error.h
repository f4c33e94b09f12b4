#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ut::base {

/// `text` as one line that a terminal shows and does not obey: control characters, line separators and what is not
/// UTF-8 are written out (\n, \x1b). Of much text the middle is left out: what comes is at most 1200 bytes long.
std::string shown(std::string_view text);

/// What a person gave cannot be used: an option, a file, data, a checkpoint, the environment. The message is one
/// line that names the thing, says what is wrong and what would be right. The program ends with exit code 2.
class BadInput : public std::runtime_error {
 public:
  /// What the message quotes of a file may be anything.
  explicit BadInput(std::string_view message) : std::runtime_error(shown(message)) {}
};

}  // namespace ut::base
