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

/// Finds out for whom a rank has been waiting for long. Before its patience ends it asks all other ranks, and those
/// that are waiting too answer. The waiting thread itself does this, since only one thread at a time may call MPI.
/// Throws std::runtime_error if MPI fails.
class RollCall {
 public:
  /// Collective over `world`, of which it keeps a copy. `watchdog` watches this rank's waits and must outlive all
  /// calls. `host`: the host that this rank runs on.
  RollCall(const std::string& host, MPI_Comm world, const Watchdog& watchdog);

  /// To be called again and again by the waiting thread: answers questions and asks when it is time.
  void poll();

  /// The ranks that have not answered in the wait under way; nothing if nobody was asked. From any thread.
  std::optional<std::vector<AbsentRank>> absent() const;

  /// Collective; the last call.
  void end();

 private:
  struct Message {
    int rank;
    int tag;
    std::uint64_t wait;  // the asking rank's wait, in which it asked
  };

  std::optional<Message> next_message();
  void take(const Message& message);
  void ask();
  void send(std::uint64_t wait, int rank, int tag);

  const Watchdog& watchdog_;
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<std::string> hosts_;    // [ranks]
  std::deque<std::uint64_t> on_way_;  // what was sent; kept, since nobody waits until it has arrived
  std::vector<int> sent_;             // [ranks]: messages sent so far
  int received_ = 0;                  // messages received so far
  mutable std::mutex mutex_;          // guards the members below
  std::uint64_t asked_in_ = 0;        // the wait in which this rank asked last
  std::vector<bool> present_;         // [ranks]: whether it has answered
};

/// Waits until all `requests` are done. Takes part in roll calls meanwhile, if `roll_call` is given.
void wait_for(std::span<MPI_Request> requests, RollCall* roll_call);
/// Waits until all ranks of the group are here. For use before a call that ends by itself once they are.
void wait_for_all_ranks(MPI_Comm group, RollCall* roll_call);

}  // namespace ut::dist
