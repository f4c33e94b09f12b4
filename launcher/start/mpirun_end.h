#pragma once

#include "launcher/start/mpirun_errors.h"
#include "launcher/start/spawn_request.h"

namespace ut::launcher {

/// How mpirun ended.
struct MpirunEnd {
  int status;  // as wait() gives it
  bool asked_to_stop;
  bool told_to_end;              // to end at once
  MpirunErrors::Told told = {};  // on standard error
};

/// The exit code of this program after that end. If it is a failure and nobody has said why, says why.
int exit_code(const MpirunEnd& end, const SpawnRequest& request);

/// Says that a training was asked to stop before it began. Returns the exit code.
int stopped_before_training();

}  // namespace ut::launcher
