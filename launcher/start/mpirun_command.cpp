#include "launcher/start/mpirun_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/error.h"
#include "launcher/start/mpirun_environment.h"
#include "launcher/start/terminal_columns.h"

namespace ut::launcher {

std::string find_mpirun(const SpawnRequest& request) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? usual_path : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const auto file = std::filesystem::path(directory) / "mpirun";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return file.string();
  }
  throw base::BadInput("--ranks: {} given, but mpirun is not installed; on Debian: apt install openmpi-bin",
                       request.ranks);
}

std::vector<std::string> mpirun_command(const SpawnRequest& request, const std::string& mpirun,
                                        const std::string& executable, bool as_root,
                                        const std::vector<std::string>& variables) {
  // mpirun would bind each rank to one core, which all its threads would share.
  std::vector<std::string> command = {mpirun, "--bind-to", "none"};
  if (request.hosts.empty()) {
    command.emplace_back("--oversubscribe");
  } else {
    std::vector<std::string> hosts;
    for (const Host& host : request.hosts) hosts.push_back(fmt::format("{}:{}", host.name, host.slots));
    const auto prefix = std::filesystem::path(mpirun).parent_path().parent_path();  // if ssh has another PATH
    command.insert(command.end(), {"--prefix", prefix.string(), "--map-by", "slot"});
    command.insert(command.end(), {"--host", fmt::format("{}", fmt::join(hosts, ","))});
  }
  if (as_root) command.emplace_back("--allow-run-as-root");
  // A rank that waits would otherwise keep its core from what it waits for: another rank, or another program.
  command.insert(command.end(), {"--mca", "mpi_yield_when_idle", "1"});
  command.insert(command.end(), {"-x", terminal_variable});
  if (!request.hosts.empty())  // ranks on this host inherit them
    for (const std::string& variable : variables) command.insert(command.end(), {"-x", variable});
  command.insert(command.end(), {"-n", std::to_string(request.ranks), executable});
  command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  return command;
}

}  // namespace ut::launcher
