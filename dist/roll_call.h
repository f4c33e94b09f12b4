#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/mpi.h"
#include "dist/watchdog.h"

namespace ut::dist {

/// How a rank that has waited for long finds out for whom: before its patience ends it asks all the others, and those
/// that wait, too, answer. It is the waiting thread that does so, since MPI is for one thread at a time. Throws
/// std::runtime_error where MPI fails.
class RollCall {
 public:
  /// Collective over `world`, of which it keeps a copy. `watchdog` is of this rank's waits, and outlives all calls.
  /// `host`: where this rank runs.
  RollCall(const std::string& host, MPI_Comm world, const Watchdog& watchdog);

  /// To be called again and again by who waits.
  void look();

  /// Who has not answered in the wait under way; none: nobody was asked. From any thread.
  std::optional<std::vector<AbsentRank>> absent() const;

  /// Collective; the last call.
  void end();

 private:
  struct Message {
    int rank;
    int tag;
    std::uint64_t wait;  // in which it was asked
  };

  std::optional<Message> next_message();
  void take(const Message& message);
  void ask();
  void send(std::uint64_t wait, int rank, int tag);

  const Watchdog& watchdog_;
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<std::string> hosts_;    // [ranks]
  std::deque<std::uint64_t> on_way_;  // what was sent, kept where it lies: nobody waits until it has arrived
  std::vector<int> sent_;             // [ranks]: messages so far
  int received_ = 0;                  // messages so far
  mutable std::mutex mutex_;          // guards what follows
  std::uint64_t asked_in_ = 0;        // the wait in which the others were asked last
  std::vector<bool> present_;         // [ranks]
};

/// Waits until all `requests` are done, taking part in roll calls meanwhile, if one is given.
void wait_for(std::span<MPI_Request> requests, RollCall* roll_call);
/// Waits until all ranks of the group are here: before a call that, once they are, ends by itself.
void wait_for_all_ranks(MPI_Comm group, RollCall* roll_call);

}  // namespace ut::dist
