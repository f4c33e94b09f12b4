#pragma once

#include <string>
#include <vector>

namespace ut::dist {

/// The NCCL libraries that a process uses. Versions as NCCL writes them: 22809 is 2.28.9.
struct NcclLibraries {
  std::vector<std::string> loaded;  // paths
  int version = 0;                  // of the library that our calls reach
  int compiled_for = 0;             // by our header
  int libtorch_compiled_for = 0;    // by its header; it does not say which library its calls reach
};

/// Throws std::runtime_error, one line, unless LibTorch and we call the same NCCL, and that is no older than either was
/// compiled for. Two NCCLs in one process hang, each waiting for what the other was told.
void check_one_nccl(const NcclLibraries& libraries);

}  // namespace ut::dist
