#pragma once

#include <stdexcept>
#include <string>

namespace ut::base {

/// What a person gave cannot be used: an option, a file, data, a checkpoint, the environment. The message is one
/// line that names the thing, says what is wrong and what would be right. The program ends with exit code 2.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ut::base
