#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "launcher/commands.h"
#include "launcher/options/option_help.h"
#include "launcher/options/options.h"
#include "launcher/process/build_info.h"
#include "launcher/process/kept_memory.h"
#include "launcher/process/library_signals.h"
#include "launcher/process/say.h"
#include "launcher/process/stop_request.h"
#include "launcher/process/system_error.h"
#include "launcher/ranks/rank_hosts.h"
#include "launcher/run/run_directory.h"
#include "launcher/start/choose_ranks.h"
#include "launcher/start/mpirun_end.h"
#include "launcher/start/mpirun_environment.h"
#include "launcher/start/rank_environment.h"
#include "launcher/start/run_on_ranks.h"
#include "launcher/start/short_spins.h"
#include "launcher/start/spawn.h"
#include "launcher/start/waiting_signals.h"

namespace ut::launcher {
namespace {

RankEnvironment rank_environment() {
  return find_rank_environment([](const char* name) { return std::getenv(name); });
}

// Not in command_table.h: code that only reads options would then need the whole program.

const std::map<std::string, int (*)(Session&)>& commands_on_ranks() {
  static const std::map<std::string, int (*)(Session&)> table = {{"train", train},   {"evaluate", evaluate},
                                                                 {"decode", decode}, {"bench", bench},
                                                                 {"plan", plan},     {"doctor", doctor}};
  return table;
}

const std::map<std::string, int (*)(const Options&)>& commands_of_one_process() {
  static const std::map<std::string, int (*)(const Options&)> table = {
      {"data stories", data_stories}, {"data sentencepiece", data_sentencepiece},
      {"data check", data_check},     {"data fetch", data_fetch},
      {"score", score_lines},         {"export", export_model},
      {"import", import_model},       {"report", report_runs}};
  return table;
}

/// What was typed, and how many ranks it takes on which hosts. Without hosts, all ranks run here.
struct Start {
  Options options;
  std::vector<Host> hosts = {};
  std::int64_t ranks = 1;
};

Start read_start(const std::vector<std::string>& arguments, const RankEnvironment& environment) {
  check_stack();
  Start start{parse_options(arguments)};
  const Options& options = start.options;
  if (!commands_on_ranks().contains(options.command)) return start;
  if (options.command == "plan" && !plan_measures_ranks(options)) return start;
  if (options.threads == 0) check_threads_variable([](const char* name) { return std::getenv(name); });
  const bool is_placed = environment.is_rank || (environment.is_only_task && options.ranks == 0);
  if (!is_placed && !options.hostfile.empty()) start.hosts = read_host_file(options.hostfile);
  start.ranks = choose_ranks(options, environment, start.hosts);
  return start;
}

int run_with_ranks(const Start& start, const RankEnvironment& environment, const std::vector<std::string>& arguments) {
  const Options& options = start.options;
  const bool trains = options.command == "train";
  // A run must not end because nobody reads its output any more.
  if (trains) std::signal(SIGPIPE, SIG_IGN);
  if (environment.is_rank || (start.ranks == 1 && start.hosts.empty())) {
    if (trains) catch_stop_requests(options.stop_signals);
    return run_on_ranks(options, environment, commands_on_ranks().at(options.command));
  }
  std::optional<WaitingSignals> signals;
  if (trains) {  // before the check: reading the data may take minutes
    signals.emplace(options.stop_signals);
    signals->release_interrupts();
  }
  check_before_start(options);
  if (trains) signals->hold_interrupts();
  if (trains && signals->stop_has_come()) return stopped_before_training();
  if (!trains) signals.emplace(options.stop_signals);
  const std::string metrics = trains ? metrics_file(options.run_dir).string() : "";
  return run_under_mpirun(
      {start.ranks, options.threads, options.command == "decode", arguments, start.hosts, options.timeout, metrics},
      *signals);
}

/// Throws base::BadInput if mpirun or srun started several processes: they would write the same files. A process that
/// reads from a terminal counts as alone, whatever the shell's environment says.
void check_alone(const std::string& command, const RankEnvironment& environment) {
  if (environment.is_rank && environment.world > 1 && ::isatty(STDIN_FILENO) == 0)
    throw base::BadInput(
        "ut {}: mpirun or srun has started {} processes, but this command runs in one; start it without them", command,
        environment.world);
}

/// Opens closed standard streams: otherwise a file opened later could get a stream's number, and what is printed.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)  // opened so that using it fails, as with a closed one
      ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Throws if something could not be printed.
void check_output() {
  if (std::fflush(stdout) != 0) throw output_error(errno);
  if (std::ferror(stdout) == 0 && std::cout.good()) return;
  // The failure was earlier and its cause is lost; writing again shows it.
  throw output_error(::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO);
}

/// Throws base::BadInput. If other ranks can be reached, tells them instead, because their own options may be right,
/// and returns the exit code.
int refuse(const std::string& why, const RankEnvironment& environment) {
  if (!environment.is_rank || environment.world == 1 || !environment.can_meet) throw base::BadInput(why);
  release_stop_requests();
  return refuse_on_ranks(why, environment);
}

int run_command(const Start& start, const RankEnvironment& environment, const std::vector<std::string>& arguments) {
  const Options& options = start.options;
  if (options.command != "train") release_stop_requests();
  if (options.command == "help") {
    print(help(options.topic));
    return 0;
  }
  if (options.command == "version") {
    print(build_info());
    return 0;
  }
  const auto alone = commands_of_one_process().find(options.command);
  if (alone == commands_of_one_process().end()) return run_with_ranks(start, environment, arguments);
  check_alone(options.command, environment);
  return alone->second(options);
}

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && commands_on_ranks().contains(arguments.front())) begin_again_with_short_spins(arguments);
  open_closed_streams();
  // Writing beyond the file size limit then fails as any write, with an error that names the file.
  std::signal(SIGXFSZ, SIG_IGN);
  // If it were ignored, the exit status of children would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  throw_when_out_of_memory();
  const RankEnvironment environment = rank_environment();
  std::optional<Start> start;
  try {
    start = read_start(arguments, environment);
  } catch (const base::BadInput& error) {
    return refuse(error.what(), environment);
  } catch (const std::filesystem::filesystem_error& error) {
    return refuse(base::describe(error), environment);
  }
  return run_command(*start, environment, arguments);
}

/// Runs the program and says why it fails, if it does. Returns the exit code.
int run_or_say(const std::vector<std::string>& arguments) {
  const auto say_once = [](const std::string& message) {
    // If the ranks cannot reach one another, only one of them says why.
    if (rank_environment().speaks()) say(message);
  };
  try {
    const int code = run(arguments);
    if (code == 0) check_output();
    return code;
  } catch (const base::BadInput& error) {
    say_once(error.what());
    return 2;
  } catch (const std::filesystem::filesystem_error& error) {
    say_once(base::describe(error));
    return 2;
  } catch (const std::exception& error) {  // an error of this rank alone
    const std::int64_t rank = rank_environment().rank;
    const std::string cause = cause_of(error);
    if (rank == 0)
      say(cause);
    else
      say_of_rank(rank, host_name(), -1, cause);
    return 1;
  }
}

}  // namespace
}  // namespace ut::launcher

int main(int count, char** values) {
  ut::launcher::restore_signals();
  const int code = ut::launcher::run_or_say({values + 1, values + count});
  std::fflush(nullptr);
  ::_exit(code);  // LibTorch would take its tables of operators apart first: a quarter of a short command's time
}
