#pragma once

#include <optional>
#include <string>

namespace ut::launcher {

/// All of standard input. Throws base::BadInput if it cannot be read to its end.
std::string read_standard_input();

/// Standard input, line by line, each as soon as it is there.
class StandardInputLines {
 public:
  /// Waits for the next line and returns it without its line feed, the first also without a byte order mark; none at
  /// the end. Throws base::BadInput if standard input cannot be read.
  std::optional<std::string> next();

 private:
  std::string unread_;  // what came after the last line's line feed
  bool is_first_ = true;
};

/// For a process that passes standard input on. Throws base::BadInput if it is closed, or open for writing only.
void check_standard_input();

}  // namespace ut::launcher
