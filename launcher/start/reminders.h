#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>

namespace ut::launcher {

/// The signal that ends mpirun, and by it the ranks.
inline constexpr int ends_mpirun = SIGHUP;

/// When mpirun is to be told something, and what.
class Reminders {
 public:
  /// `patience`: how long mpirun may go on once it has given up.
  Reminders(pid_t mpirun, std::chrono::seconds patience) : mpirun_(mpirun), patience_(patience) {}

  bool asked_to_stop() const { return ask_again_at_ != never; }
  bool told_to_end() const { return told_to_end_; }
  /// Asks mpirun to stop, and repeats it: mpirun and the ranks may not have been there yet.
  void ask_to_stop();
  /// For a Ctrl-C: asks to stop; another one, a second or more after the first, tells mpirun to end at once.
  void interrupt();
  void mpirun_has_given_up() { give_time(patience_); }

  /// Does what is due. Returns the milliseconds until more is due, for poll(); -1: never.
  int remind();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point never = Clock::time_point::max();

  void tell_to_end();
  void give_time(Clock::duration time);

  pid_t mpirun_;
  std::chrono::seconds patience_;
  Clock::time_point ask_again_at_ = never;    // never until it is asked to stop
  Clock::time_point kill_at_ = never;         // when it is killed, if it may not end by itself
  Clock::time_point insistent_from_ = never;  // a second after the first Ctrl-C
  bool told_to_end_ = false;
};

}  // namespace ut::launcher
