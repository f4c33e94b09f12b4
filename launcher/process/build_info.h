#pragma once

#include <string>

namespace ut::launcher {

/// What `ut --version` prints: this program's version, then a line each for LibTorch, MPI, CUDA and NCCL, which also
/// says what this build leaves out. Ends with a newline.
std::string build_info();

}  // namespace ut::launcher
