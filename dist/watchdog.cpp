#include "dist/watchdog.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace ut::dist {

using std::chrono::milliseconds;

Watchdog::Watchdog(milliseconds limit, Late late)
    : limit_(limit), late_(std::move(late)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void Watchdog::watch(const std::stop_token& stop) const {
  const milliseconds interval = std::clamp(limit_ / 20, milliseconds(10), milliseconds(1000));
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);  // cppcheck-suppress localMutex; nothing is guarded, the wait wants one
  std::uint64_t seen = 0;
  milliseconds waited{0};
  while (!stopped.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
    const char* what = waiting_for_;
    const std::uint64_t wait = waits_;
    const bool same = what != nullptr && std::exchange(seen, wait) == wait;
    waited = same ? waited + interval : milliseconds(0);
    if (waited < limit_) continue;
    late_(what);
    return;
  }
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
