#pragma once

#include <optional>

#include "launcher/start/mpirun_errors.h"
#include "launcher/start/spawn_request.h"

namespace ut::launcher {

/// How mpirun ended.
struct MpirunEnd {
  int status;  // as of wait()
  bool asked_to_stop;
  bool told_to_end;                              // at once
  std::optional<MpirunErrors::Ended> rank = {};  // that a signal ended, where mpirun has said so
  bool cause_is_told = false;                    // in a line on standard error, of a rank or of this program
};

/// What this program exits with then; says why, where nobody has and it is no success.
int exit_code(const MpirunEnd& end, const SpawnRequest& request);

/// Says that a training was asked to stop before it began. Returns what it exits with.
int stopped_before_training();

}  // namespace ut::launcher
