#pragma once

#include <array>
#include <functional>
#include <string_view>

namespace ut::launcher {

/// A pipe whose ends are not passed on to programs that are started, but where they are told to take one. Throws
/// std::runtime_error where the system refuses.
class Pipe {
 public:
  Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();

  /// -1 once it is closed.
  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_writing_end();

  /// read() ends from now on where nothing has come.
  void do_not_wait();
  /// What comes, a part at a time, until nobody writes any more; then the reading end is closed, too.
  void read(const std::function<void(std::string_view)>& visit);

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace ut::launcher
