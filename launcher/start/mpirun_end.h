#pragma once

#include <optional>

#include "launcher/start/mpirun_errors.h"
#include "launcher/start/spawn_request.h"

namespace ut::launcher {

/// How mpirun ended.
struct MpirunEnd {
  int status;  // as wait() gives it
  bool asked_to_stop;
  bool told_to_end;                              // to end at once
  std::optional<MpirunErrors::Ended> rank = {};  // that a signal ended, if mpirun has said so
  bool cause_is_told = false;                    // in a line on standard error, by a rank or by this program
  bool mpi_has_given_up = false;                 // and has said so
  bool a_rank_has_ended = false;                 // by itself, with an exit code other than 0
};

/// The exit code of this program after that end. If it is a failure and nobody has said why, says why.
int exit_code(const MpirunEnd& end, const SpawnRequest& request);

/// Says that a training was asked to stop before it began. Returns the exit code.
int stopped_before_training();

}  // namespace ut::launcher
