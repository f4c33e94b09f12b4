#pragma once

namespace ut::launcher {

/// Undoes what libraries have made of a hang-up and of crashes while they were loaded, before main(). With UCX, which
/// Open MPI 5 loads, a terminal that is closed would not end the program, and a crash would print a long trace.
void restore_signals();

}  // namespace ut::launcher
