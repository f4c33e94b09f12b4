// LibTorch's MKL searches for its files from the working directory before main() begins. If that directory is gone, MKL
// says that it cannot be loaded. The function here runs before the initialisers of any library, so it may only use
// system calls.

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>

namespace ut::launcher {
namespace {

void check_working_directory() {
  std::array<char, PATH_MAX> path;
  if (::syscall(SYS_getcwd, path.data(), path.size()) >= 0) return;
  constexpr std::string_view why = "ut: working directory: is not there any more; change to one that is\n";
  ::_exit(::write(STDERR_FILENO, why.data(), why.size()) < 0 ? 1 : 2);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all)() = check_working_directory;

}  // namespace
}  // namespace ut::launcher
