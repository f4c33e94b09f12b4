#include "launcher/start/reminders.h"

#include <algorithm>
#include <utility>

namespace ut::launcher {
namespace {

constexpr std::chrono::milliseconds repeat_after{1000};

}  // namespace

void Reminders::ask_to_stop() {
  ::kill(mpirun_, SIGUSR1);
  ask_again_at_ = Clock::now() + repeat_after;
}

void Reminders::interrupt() {
  const auto now = Clock::now();
  if (now >= insistent_from_) return tell_to_end();
  insistent_from_ = std::min(insistent_from_, now + std::chrono::seconds(1));
  ask_to_stop();
}

void Reminders::tell_to_end() {
  if (std::exchange(told_to_end_, true)) return;  // mpirun complains if it is told twice
  ::kill(mpirun_, ends_mpirun);
  ask_again_at_ = Clock::now() + repeat_after;
  give_time(std::chrono::seconds(5));
}

int Reminders::remind() {
  const auto now = Clock::now();
  if (now >= ask_again_at_) ask_to_stop();
  if (now >= kill_at_) {
    ::kill(-mpirun_, SIGKILL);
    kill_at_ = now + repeat_after;
  }
  const auto next = std::min(ask_again_at_, kill_at_);
  if (next == never) return -1;
  const auto time = std::min<Clock::duration>(next - now, std::chrono::hours(1));
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

void Reminders::give_time(Clock::duration time) { kill_at_ = std::min(kill_at_, Clock::now() + time); }

}  // namespace ut::launcher
