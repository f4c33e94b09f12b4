#pragma once

#include <chrono>

namespace ut::launcher {

/// Runs from its construction.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  /// As if so many seconds had not passed.
  void leave_out(double seconds) {
    begin_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now();
};

}  // namespace ut::launcher
