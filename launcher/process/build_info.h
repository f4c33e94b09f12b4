#pragma once

#include <string>

namespace ut::launcher {

/// What `ut --version` prints: this program's version, and on a line each LibTorch, MPI, CUDA and NCCL, with what was
/// left out of this build named as such. Ends with a newline.
std::string build_info();

}  // namespace ut::launcher
