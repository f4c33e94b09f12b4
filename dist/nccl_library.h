#pragma once

#include <string>
#include <vector>

namespace ut::dist {

/// The NCCL libraries that a process has to do with. Versions as NCCL writes them: 22809 is 2.28.9.
struct NcclLibraries {
  std::vector<std::string> loaded;  // paths
  int version = 0;                  // of the one that calls reach
  int compiled_for = 0;             // our header's
  int libtorch_compiled_for = 0;    // its header's; which library its calls reach it does not say
};

/// Throws std::runtime_error, one line, unless LibTorch and we call the same NCCL, and it is no older than what either
/// was compiled for: two in one process hang, each waiting for what the other was told.
void check_one_nccl(const NcclLibraries& libraries);

}  // namespace ut::dist
