#pragma once

#include <csignal>
#include <vector>

namespace ut::launcher {

/// Makes SIGUSR1, SIGCHLD and `stop_signals` wait in a descriptor from now on instead of interrupting. They do not
/// interrupt after its destruction either: the program is at its end then, with an exit code of its own. Throws
/// std::runtime_error if the system refuses.
class WaitingSignals {
 public:
  explicit WaitingSignals(const std::vector<int>& stop_signals);
  WaitingSignals(const WaitingSignals&) = delete;
  WaitingSignals& operator=(const WaitingSignals&) = delete;
  ~WaitingSignals();

  int descriptor() const { return descriptor_; }
  /// Waits for the next signal and returns it; 0 if the read fails.
  int next() const;
  /// Whether a stop signal waits that next() has not returned.
  bool stop_has_come() const;
  /// From here to hold_interrupts(), Ctrl-C ends the process at once: there is nothing to lose yet.
  void release_interrupts() const;
  void hold_interrupts() const;
  /// For a child: restores the signal mask from before.
  void restore() const;

 private:
  sigset_t before_{};
  sigset_t stops_{};
  int descriptor_ = -1;
};

}  // namespace ut::launcher
