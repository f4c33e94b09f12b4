#include "dist/work_watch.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace ut::dist {

WorkWatch::WorkWatch(WatchLimits limits, Stuck stuck)
    : limits_(limits),
      stuck_(std::move(stuck)),
      // The thread that is waited for changes the cause no more, and lets nobody else do so.
      last_resort_(limits.timeout,
                   [this](const std::string& what) {
                     stuck_(fmt::format("{}{} does not return", cause_.empty() ? "" : cause_ + "; ", what));
                   }),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void WorkWatch::add(Watched& watched) {
  const std::lock_guard lock(mutex_);
  watched_.push_back(&watched);
}

void WorkWatch::remove(Watched& watched) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cause_.empty() || aborted_; });
  std::erase(watched_, &watched);
}

void WorkWatch::begin(std::string what, std::function<bool()> ended) {
  const std::lock_guard lock(mutex_);
  under_way_.push_back({std::move(what), std::move(ended), running_time_ + limits_.timeout});
}

void WorkWatch::fail(const std::string& cause) {
  const std::lock_guard lock(mutex_);
  if (cause_.empty()) cause_ = cause;
  changed_.notify_all();
}

void WorkWatch::check() const {
  const std::lock_guard lock(mutex_);
  if (!cause_.empty()) throw std::runtime_error(cause_);
}

void WorkWatch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (cause_.empty()) {
    if (stop.stop_requested()) return;
    changed_.wait_for(lock, stop, limits_.interval, [this] { return !cause_.empty(); });
    running_time_ += limits_.interval;
    if (cause_.empty()) drop_ended();
    if (cause_.empty()) cause_ = find_failure();
  }
  drain(lock, stop);
  abort_all(lock);
}

void WorkWatch::drop_ended() {
  const Watchdog::Wait wait(&last_resort_, "a question to the GPU");
  try {
    while (!under_way_.empty() && under_way_.front().ended()) under_way_.pop_front();
  } catch (const std::exception& error) {
    if (cause_.empty()) cause_ = fmt::format("{}: {}", under_way_.front().what, error.what());
    under_way_.clear();  // the others would fail for the same reason
  }
}

std::string WorkWatch::find_failure() {
  for (Watched* watched : watched_) {
    const std::string error = watched->asynchronous_error();
    if (!error.empty()) return error;
  }
  if (under_way_.empty() || running_time_ < under_way_.front().deadline) return {};
  return fmt::format("{} has not ended after {} s: a rank has failed, is late, or its network is down (--timeout)",
                     under_way_.front().what, static_cast<double>(limits_.timeout.count()) / 1000);
}

void WorkWatch::drain(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + limits_.drain;
  for (drop_ended(); !under_way_.empty() && Clock::now() < end && !stop.stop_requested(); drop_ended())
    changed_.wait_for(lock, stop, limits_.interval, [] { return false; });
}

void WorkWatch::abort_all(std::unique_lock<std::mutex>& lock) {
  const std::vector<Watched*> all = watched_;  // they live until aborted_: see remove()
  lock.unlock();
  {
    const Watchdog::Wait wait(&last_resort_, "NCCL's abort");
    std::vector<std::jthread> threads;
    threads.reserve(all.size());
    for (Watched* watched : all) threads.emplace_back([watched] { watched->abort(); });
  }
  lock.lock();
  aborted_ = true;
  changed_.notify_all();
}

}  // namespace ut::dist
