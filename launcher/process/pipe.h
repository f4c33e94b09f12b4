#pragma once

#include <array>
#include <functional>
#include <string_view>

namespace ut::launcher {

/// A pipe. A program that is started inherits its ends only if it is told to take one. Throws std::runtime_error if the
/// system refuses.
class Pipe {
 public:
  Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();

  /// -1 once the end is closed.
  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_writing_end();

  /// From now on read() returns, instead of waiting, when nothing more has come.
  void do_not_wait();
  /// Visits what comes, a part at a time, until nobody writes any more. Then it closes the reading end, too.
  void read(const std::function<void(std::string_view)>& visit);

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace ut::launcher
