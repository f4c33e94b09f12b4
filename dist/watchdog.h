#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace ut::dist {

/// Notices that a wait for other ranks does not end, because a host or a link is down or a rank hangs. It cannot end
/// the wait: some MPI calls, to initialise it or to make a communicator, can neither be interrupted nor given a
/// deadline.
class Watchdog {
 public:
  /// What to do about it. Called once, from the watchdog's own thread, with the name of what is waited for. The waiting
  /// thread is still in its call, so all that helps is to report it and to end the process.
  using Late = std::function<void(const std::string& what)>;

  /// Time in which the process is stopped (by a batch system, or Ctrl-Z) does not count.
  Watchdog(std::chrono::milliseconds limit, Late late);

  /// How long the wait under way has lasted, counted in the intervals at which the watchdog looks. 0 if there is none,
  /// or if it has lasted for less than two intervals. From any thread.
  std::chrono::milliseconds waited() const;
  std::chrono::milliseconds limit() const { return limit_; }
  /// The number of the wait under way, or of the last one; 0 if none has begun. From any thread.
  std::uint64_t wait() const { return waits_; }

  /// While this lives, `what`, a string that outlives the watchdog, is being waited for. One wait at a time.
  class Wait {
   public:
    /// Does nothing if `watchdog` is null.
    Wait(Watchdog* watchdog, const char* what);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    Watchdog* watchdog_;
  };

 private:
  void watch(const std::stop_token& stop);

  std::chrono::milliseconds limit_;
  Late late_;
  std::atomic<const char*> waiting_for_ = nullptr;
  std::atomic<std::uint64_t> waits_ = 0;  // waits begun so far: tells a long wait from many short ones
  std::atomic<std::uint64_t> seen_ = 0;   // the wait that was under way at the last look
  std::atomic<std::chrono::milliseconds> waited_ = std::chrono::milliseconds(0);  // how long that wait has lasted
  std::jthread thread_;  // last: its thread uses the other members
};

}  // namespace ut::dist
