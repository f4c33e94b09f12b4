#include "dist/watchdog.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace ut::dist {

using std::chrono::milliseconds;

Watchdog::Watchdog(milliseconds limit, Late late)
    : limit_(limit), late_(std::move(late)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void Watchdog::watch(const std::stop_token& stop) {
  const milliseconds interval = std::clamp(limit_ / 20, milliseconds(10), milliseconds(250));
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);  // cppcheck-suppress localMutex; nothing is guarded, the wait wants one
  while (!stopped.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
    const char* what = waiting_for_;
    const std::uint64_t wait = waits_;
    const bool same = what != nullptr && seen_ == wait;
    waited_ = same ? waited_.load() + interval : milliseconds(0);
    seen_ = wait;
    if (waited_.load() < limit_) continue;
    late_(what);
    return;
  }
}

milliseconds Watchdog::waited() const {
  return seen_ == waits_ && waiting_for_ != nullptr ? waited_.load() : milliseconds(0);
}

Watchdog::Wait::Wait(Watchdog* watchdog, const char* what) : watchdog_(watchdog) {
  if (watchdog_ == nullptr) return;
  ++watchdog_->waits_;
  watchdog_->waiting_for_ = what;
}

Watchdog::Wait::~Wait() {
  if (watchdog_ != nullptr) watchdog_->waiting_for_ = nullptr;
}

}  // namespace ut::dist
