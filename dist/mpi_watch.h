#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dist/mpi.h"
#include "dist/roll_call.h"
#include "dist/watchdog.h"

namespace ut::dist {

/// Watches over a session's waits.
struct MpiWatch {
  explicit MpiWatch(Patience patience)
      : host(std::move(patience.host)),
        watchdog(patience.limit, [this, late = std::move(patience.late)](const std::string& call) {
          const RollCall* const asked = roll_call;
          late(call, asked != nullptr ? asked->absent() : std::nullopt);
        }) {}

  void begin_roll_calls() { roll_call = &roll_call_storage.emplace(host, MPI_COMM_WORLD, watchdog); }

  std::string host;
  std::optional<RollCall> roll_call_storage;
  std::atomic<RollCall*> roll_call = nullptr;  // null until MPI is initialised
  Watchdog watchdog;                           // last: its thread uses the other members
};

/// Null if nobody watches.
inline Watchdog* watchdog_of(const std::shared_ptr<MpiWatch>& watch) { return watch ? &watch->watchdog : nullptr; }
inline RollCall* roll_call_of(const std::shared_ptr<MpiWatch>& watch) {
  return watch ? watch->roll_call.load() : nullptr;
}

}  // namespace ut::dist
