#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/start/mpirun_errors.h"

namespace ut::launcher {

// What passes between a person and the ranks that mpirun runs. All throw std::runtime_error where the system refuses.

/// With what the system says of `error`.
std::runtime_error system_error(const std::string& what, int error = errno);
/// Of `error`: what a person is told where standard output cannot be written.
std::runtime_error output_error(int error);

/// SIGUSR1, SIGCHLD and `stop_signals`, which wait in a descriptor from now on instead of interrupting. When this is
/// gone they still do not interrupt: the program is at its end then, with an exit code of its own.
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

/// What a child writes to one of its standard streams, read without waiting.
class PipeFromChild {
 public:
  PipeFromChild();
  PipeFromChild(const PipeFromChild&) = delete;
  PipeFromChild& operator=(const PipeFromChild&) = delete;
  ~PipeFromChild();

  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  /// Once the child has it.
  void close_writing_end();
  /// All that has come so far, a part at a time.
  void read(const std::function<void(std::string_view)>& visit);

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Copies standard output of mpirun, which would not say that it cannot be written.
class OutputRelay {
 public:
  PipeFromChild& pipe() { return pipe_; }
  /// All that has come so far; nothing more once writing has failed.
  void copy();
  /// Throws where something could not be written.
  void check() const;

 private:
  PipeFromChild pipe_;
  int failure_ = 0;  // its errno
};

/// Copies standard error of mpirun and the ranks, but for what mpirun says about the end of ranks.
class ErrorRelay {
 public:
  ErrorRelay() = default;
  ErrorRelay(const ErrorRelay&) = delete;
  ErrorRelay& operator=(const ErrorRelay&) = delete;
  ~ErrorRelay();

  PipeFromChild& pipe() { return pipe_; }
  /// All that has come so far.
  void copy();
  const std::optional<MpirunErrors::Ended>& ended_by_signal() const { return errors_.ended_by_signal(); }
  bool has_given_up() const { return errors_.has_given_up(); }

 private:
  PipeFromChild pipe_;
  MpirunErrors errors_;
};

}  // namespace ut::launcher
