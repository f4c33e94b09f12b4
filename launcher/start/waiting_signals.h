#pragma once

#include <csignal>
#include <vector>

namespace ut::launcher {

/// SIGUSR1, SIGCHLD and `stop_signals`, which wait in a descriptor from now on instead of interrupting. When this is
/// gone they still do not interrupt: the program is at its end then, with an exit code of its own. Throws
/// std::runtime_error where the system refuses.
class WaitingSignals {
 public:
  explicit WaitingSignals(const std::vector<int>& stop_signals);
  WaitingSignals(const WaitingSignals&) = delete;
  WaitingSignals& operator=(const WaitingSignals&) = delete;
  ~WaitingSignals();

  int descriptor() const { return descriptor_; }
  /// 0 where there is none.
  int next() const;
  /// Whether a stop was asked for that next() has not told of.
  bool stop_has_come() const;
  /// For a child: signals as they were before.
  void restore() const;

 private:
  sigset_t before_{};
  sigset_t stops_{};
  int descriptor_ = -1;
};

}  // namespace ut::launcher
