#pragma once

#include <string>
#include <vector>

namespace ut::dist {

/// The NCCL libraries that a process has to do with. Versions as NCCL writes them: 22809 is 2.28.9.
struct NcclLibraries {
  std::vector<std::string> loaded;  // paths
  int compiled_for = 0;             // the header's version
  int ours = 0;                     // of the library that our calls reach
  int libtorch = 0;                 // of the one that LibTorch's calls reach
};

/// Throws std::runtime_error, one line, unless LibTorch and we call the same NCCL, and it is no older than its header
/// here: two in one process hang, each waiting for what the other was told.
void check_one_nccl(const NcclLibraries& libraries);

}  // namespace ut::dist
