#include "launcher/start/short_spins.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "launcher/start/mpirun_environment.h"

namespace ut::launcher {
namespace {

constexpr const char* variable = "GOMP_SPINCOUNT";  // turns of a loop; 300000 by default

bool is_set(const char* name) { return std::getenv(name) != nullptr; }
bool is_said_how_to_wait() { return is_set("OMP_WAIT_POLICY") || is_set(variable); }

bool threads_are_bound() {
  return std::ranges::any_of(std::array{"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}, is_set);
}

bool is_told_one_thread() {
  const char* threads = std::getenv(threads_variable);
  return threads != nullptr && std::string_view(threads) == "1";
}

}  // namespace

void set_short_spins() {
  if (!is_said_how_to_wait()) ::setenv(variable, "10000", 0);
}

void begin_again_with_short_spins(std::vector<std::string> arguments) {
  if (is_said_how_to_wait() || threads_are_bound() || is_told_one_thread()) return;
  set_short_spins();
  std::vector<char*> words = {program_invocation_name};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  std::error_code unread;
  // Begins again by its own name, which others see, not as /proc/self/exe.
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unread);
  ::execv(program.c_str(), words.data());  // if it fails, this goes on as it is
}

}  // namespace ut::launcher
