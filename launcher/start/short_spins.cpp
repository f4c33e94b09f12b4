#include "launcher/start/short_spins.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace ut::launcher {
namespace {

constexpr const char* variable = "GOMP_SPINCOUNT";  // turns of a loop; its default is 300000

bool is_said_how_to_wait() { return std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv(variable) != nullptr; }

}  // namespace

void set_short_spins() {
  if (!is_said_how_to_wait()) ::setenv(variable, "10000", 0);
}

void begin_again_with_short_spins(std::vector<std::string> arguments) {
  if (is_said_how_to_wait()) return;
  set_short_spins();
  std::vector<char*> words = {program_invocation_name};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  ::execv("/proc/self/exe", words.data());  // where it cannot, this goes on as it is
}

}  // namespace ut::launcher
