#pragma once

#include <optional>

#include "launcher/process/pipe.h"
#include "launcher/start/mpirun_errors.h"
#include "launcher/start/output_queue.h"

namespace ut::launcher {

// What passes between a person and the ranks that mpirun runs. All throw std::runtime_error if the system refuses.

/// Copies a terminal's lines to mpirun, which is not in the terminal's foreground group and may not read it itself.
class TerminalRelay {
 public:
  explicit TerminalRelay(bool wanted);

  /// Only if the relay is wanted.
  int reading_end() const { return pipe_->reading_end(); }
  bool open() const { return pipe_ && pipe_->writing_end() >= 0; }
  /// Copies what standard input has.
  void copy();

 private:
  std::optional<Pipe> pipe_;
};

/// Copies mpirun's standard output. mpirun would not say that it cannot be written.
class OutputRelay {
 public:
  OutputRelay();

  Pipe& pipe() { return pipe_; }
  OutputQueue& queue() { return queue_; }
  /// Takes all that has come so far into the queue.
  void take();
  /// Throws std::runtime_error if something could not be written.
  void check() const;

 private:
  Pipe pipe_;
  OutputQueue queue_;
};

/// Copies standard error of mpirun and the ranks, without what mpirun says about the end of ranks.
class ErrorRelay {
 public:
  ErrorRelay();
  ErrorRelay(const ErrorRelay&) = delete;
  ErrorRelay& operator=(const ErrorRelay&) = delete;
  /// Waits until all is written, for at most five seconds.
  ~ErrorRelay();

  Pipe& pipe() { return pipe_; }
  OutputQueue& queue() { return queue_; }
  /// Takes all that has come so far into the queue.
  void take();
  const MpirunErrors::Told& told() const { return errors_.told(); }

 private:
  Pipe pipe_;
  MpirunErrors errors_;
  OutputQueue queue_;
};

}  // namespace ut::launcher
