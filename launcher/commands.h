#pragma once

#include "launcher/run/session.h"

namespace ut::launcher {

/// The commands that run on ranks. Each returns the program's exit code and throws for what cannot go on.
int train(Session& session);
int evaluate(Session& session);
int decode(Session& session);
int bench(Session& session);
int plan(Session& session);
int doctor(Session& session);

/// Whether `ut plan` measures on as many ranks as it is asked to plan for; otherwise one process is enough.
bool plan_measures_ranks(const Options& options);

/// What can be said before ranks start: reads the data and looks at the run directory, writes nothing.
/// Throws base::BadInput.
void check_before_start(const Options& options);

}  // namespace ut::launcher
