#pragma once

#include <array>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher/mpirun_errors.h"

namespace ut::launcher {

// What passes between a person and the ranks that mpirun runs. All throw std::runtime_error where the system refuses.

/// With what the system says of `errno`.
std::runtime_error system_error(const std::string& what);

/// SIGUSR1, SIGCHLD and `stop_signals`, which wait in a descriptor instead of interrupting, as long as this lives.
class WaitingSignals {
 public:
  explicit WaitingSignals(const std::vector<int>& stop_signals);
  WaitingSignals(const WaitingSignals&) = delete;
  WaitingSignals& operator=(const WaitingSignals&) = delete;
  ~WaitingSignals();

  int descriptor() const { return descriptor_; }
  /// 0 where there is none.
  int next() const;
  /// For a child: signals as they were before.
  void restore() const;

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

/// Copies a terminal's lines to mpirun, which is not in the terminal's foreground and may not read it itself.
class TerminalRelay {
 public:
  explicit TerminalRelay(bool wanted);
  TerminalRelay(const TerminalRelay&) = delete;
  TerminalRelay& operator=(const TerminalRelay&) = delete;
  ~TerminalRelay();

  int reading_end() const { return reading_; }
  bool open() const { return writing_ >= 0; }
  /// What standard input has.
  void copy();

 private:
  int reading_ = -1;
  int writing_ = -1;
};

/// Copies standard error of mpirun and the ranks, but for what mpirun says about the end of ranks.
class ErrorRelay {
 public:
  ErrorRelay();
  ErrorRelay(const ErrorRelay&) = delete;
  ErrorRelay& operator=(const ErrorRelay&) = delete;
  ~ErrorRelay();

  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  /// Once the child has it.
  void close_writing_end();
  /// All that has come so far.
  void copy();
  const std::optional<MpirunErrors::Ended>& ended_by_signal() const { return errors_.ended_by_signal(); }

 private:
  std::array<int, 2> ends_{-1, -1};
  MpirunErrors errors_;
};

}  // namespace ut::launcher
