#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "launcher/commands.h"
#include "launcher/data.h"
#include "launcher/model_files.h"
#include "launcher/options/options.h"
#include "launcher/process/build_info.h"
#include "launcher/process/kept_memory.h"
#include "launcher/process/say.h"
#include "launcher/process/stop_request.h"
#include "launcher/report.h"
#include "launcher/run/run_directory.h"
#include "launcher/score.h"
#include "launcher/start/rank_environment.h"
#include "launcher/start/relays.h"
#include "launcher/start/run_on_ranks.h"
#include "launcher/start/spawn.h"

namespace ut::launcher {
namespace {

RankEnvironment rank_environment() {
  return find_rank_environment([](const char* name) { return std::getenv(name); });
}

/// Not in command_table.h, which would bring the whole program to those who only read options; likewise the next.
const std::map<std::string, int (*)(Session&)>& commands_on_ranks() {
  static const std::map<std::string, int (*)(Session&)> table = {{"train", train},   {"evaluate", evaluate},
                                                                 {"decode", decode}, {"bench", bench},
                                                                 {"plan", plan},     {"doctor", doctor}};
  return table;
}

const std::map<std::string, int (*)(const Options&)>& commands_of_one_process() {
  static const std::map<std::string, int (*)(const Options&)> table = {
      {"data stories", run_data}, {"data sentencepiece", run_data}, {"data check", run_data}, {"data fetch", run_data},
      {"score", run_score},       {"export", run_export},           {"import", run_import},   {"report", run_report}};
  return table;
}

int run_with_ranks(const Options& options, const std::vector<std::string>& arguments) {
  const RankEnvironment environment = rank_environment();
  const bool needs_ranks = options.command != "plan" || plan_measures_ranks(options);
  const bool starts_on_hosts = needs_ranks && !environment.is_rank && !options.hostfile.empty();
  const std::vector<Host> hosts = starts_on_hosts ? read_host_file(options.hostfile) : std::vector<Host>();
  const std::int64_t ranks = needs_ranks ? choose_ranks(options, environment, hosts) : 1;
  if (environment.is_rank || (ranks == 1 && hosts.empty())) {
    if (options.command == "train") catch_stop_requests(options.stop_signals);
    return run_on_ranks(options, environment, commands_on_ranks().at(options.command));
  }
  check_before_start(options);
  const std::string metrics = options.command == "train" ? metrics_file(options.run_dir).string() : "";
  return run_under_mpirun({ranks, options.threads, options.command == "decode", arguments, hosts, options.timeout,
                           options.stop_signals, metrics});
}

/// Processes side by side would write the same files. One that a person types into is alone, whatever the shell's
/// environment says. Throws base::BadInput.
void check_alone(const std::string& command) {
  const RankEnvironment environment = rank_environment();
  if (environment.is_rank && environment.world > 1 && ::isatty(STDIN_FILENO) == 0)
    throw base::BadInput(
        fmt::format("ut {}: mpirun or srun has started {} processes, but it works in one; leave it out", command,
                    environment.world));
}

/// A file opened later would otherwise get the number of a standard stream that is closed, and what is printed.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);  // writing to it fails, as to a closed one
}

/// Throws where something could not be printed.
void check_output() {
  if (std::fflush(stdout) != 0) throw output_error(errno);
  if (std::ferror(stdout) == 0 && std::cout.good()) return;
  // It failed long ago: the cause is known by trying again.
  throw output_error(::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO);
}

/// Where other ranks are around, whose options may be as they should, they are told.
int refuse(const std::exception_ptr& refusal) {
  const RankEnvironment environment = rank_environment();
  if (!environment.is_rank || environment.world == 1 || !environment.can_meet) std::rethrow_exception(refusal);
  release_stop_requests();
  return refuse_on_ranks(environment, refusal);
}

int run_command(const Options& options, const std::vector<std::string>& arguments) {
  if (options.command != "train") release_stop_requests();
  if (options.command == "help") {
    fmt::print("{}", help(options.topic));
    return 0;
  }
  if (options.command == "version") {
    fmt::print("{}", build_info());
    return 0;
  }
  const auto alone = commands_of_one_process().find(options.command);
  if (alone == commands_of_one_process().end()) return run_with_ranks(options, arguments);
  check_alone(options.command);
  return alone->second(options);
}

int run(const std::vector<std::string>& arguments) {
  open_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is then one that cannot be written, and is named
  throw_when_out_of_memory();
  Options options;
  try {
    options = parse_options(arguments);
  } catch (const std::exception&) {
    return refuse(std::current_exception());
  }
  return run_command(options, arguments);
}

}  // namespace
}  // namespace ut::launcher

int main(int count, char** values) {
  const auto say = [](const std::string& message) {
    // Where none of the ranks can reach another, one of them says why.
    if (ut::launcher::rank_environment().rank == 0) ut::launcher::say(message);
  };
  try {
    const int code = ut::launcher::run({values + 1, values + count});
    ut::launcher::check_output();
    return code;
  } catch (const ut::base::BadInput& error) {
    say(error.what());
    return 2;
  } catch (const std::filesystem::filesystem_error& error) {
    say(ut::base::describe(error));
    return 2;
  } catch (const std::exception& error) {
    say(ut::launcher::cause_of(error));
    return 1;
  }
}
