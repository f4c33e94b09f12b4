#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "dist/watchdog.h"

namespace ut::dist {

/// A communicator whose collectives run asynchronously, as its watch sees it. Both functions are called on the watch's
/// threads and must not call the watch.
class Watched {
 public:
  virtual ~Watched() = default;
  /// The error that has occurred since work was handed over; empty if there was none.
  virtual std::string asynchronous_error() = 0;
  /// Gives up whatever is under way, so that nobody waits for it any more. Called at most once.
  virtual void abort() noexcept = 0;
};

struct WatchLimits {
  std::chrono::milliseconds timeout{300'000};  // for a piece of work
  std::chrono::milliseconds drain{2'000};      // for other work to end after a failure
  std::chrono::milliseconds interval{20};      // between looks
};

/// Ensures that no rank waits for ever for asynchronous collectives, such as NCCL's on a GPU: there a rank that died or
/// is late is seen only as work that does not end.
///
/// A thread looks, again and again, whether work has ended, whether it has taken too long and whether a communicator
/// reports an error. At the first failure:
/// 1. check() throws from then on, on every thread. Nothing new is begun, and a program that waited for a result goes
///    no further with it than to its next collective.
/// 2. Work under way gets a little time to end: communicators that are aborted amid transfers between GPUs have taken
///    links down.
/// 3. All communicators are aborted, each on a thread of its own: one left out would go on waiting for this rank, and
///    one aborted after another can wait for that other.
/// A thread that waits for the GPU is thus freed, and throws.
///
/// If a look or the aborts themselves do not return within the timeout, because the GPU's driver answers nobody, all
/// that is left is `stuck`.
class WorkWatch {
 public:
  /// Called once, on a thread of its own, with what happened. Only the end of the process helps.
  using Stuck = std::function<void(const std::string& what)>;

  WorkWatch(WatchLimits limits, Stuck stuck);
  ~WorkWatch() = default;
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

  /// From here to remove(), `watched` is asked for errors, and aborted at a failure.
  void add(Watched& watched);
  /// Waits for an abort that is under way.
  void remove(Watched& watched);

  /// Registers work that has begun and that has ended once `ended` returns true; if `ended` throws, that is a failure.
  /// Work ends in the order in which it began. `what` names it in messages.
  void begin(std::string what, std::function<bool()> ended);

  /// Reports a failure seen elsewhere; the first one counts.
  void fail(const std::string& cause);
  /// Throws std::runtime_error with the cause if there was a failure.
  void check() const;

 private:
  struct Work {
    std::string what;
    std::function<bool()> ended;
    std::chrono::milliseconds deadline;  // on the clock of running_time_
  };

  void run(const std::stop_token& stop);
  void drop_ended();
  std::string find_failure();
  void drain(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void abort_all(std::unique_lock<std::mutex>& lock);

  WatchLimits limits_;
  Stuck stuck_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable_any changed_;
  std::vector<Watched*> watched_;
  std::deque<Work> under_way_;
  std::chrono::milliseconds running_time_{0};  // sum of the intervals; leaves out time in which the process was stopped
  std::string cause_;                          // empty: no failure
  bool aborted_ = false;
  Watchdog last_resort_;
  std::jthread thread_;  // last, so that it ends before what it uses
};

}  // namespace ut::dist
