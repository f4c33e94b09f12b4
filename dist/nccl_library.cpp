#include "dist/nccl_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace ut::dist {
namespace {

/// 22809 -> "2.28.9".
std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

}  // namespace

void check_one_nccl(const NcclLibraries& libraries) {
  constexpr auto remedy = "take the one that LibTorch came with, as ./quickstart build --cuda does (LD_LIBRARY_PATH)";
  const std::string loaded = fmt::format("{}", fmt::join(libraries.loaded, ", "));
  if (libraries.loaded.size() > 1)
    throw std::runtime_error(fmt::format("NCCL: more than one in this process ({}); {}", loaded, remedy));
  const auto refuse_older_than = [&](int compiled_for, const char* who) {
    if (libraries.version < compiled_for)
      throw std::runtime_error(fmt::format("NCCL: {} was compiled for {}, but runs with {} ({}); {}", who,
                                           nccl_version_text(compiled_for), nccl_version_text(libraries.version),
                                           loaded, remedy));
  };
  refuse_older_than(libraries.compiled_for, "this program");
  refuse_older_than(libraries.libtorch_compiled_for, "LibTorch");
}

}  // namespace ut::dist
