#include "launcher/process/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "launcher/process/pipe.h"

namespace ut::launcher {
namespace {

/// What a started program does with its standard streams.
class StreamActions {
 public:
  StreamActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~StreamActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  StreamActions(const StreamActions&) = delete;
  StreamActions& operator=(const StreamActions&) = delete;

  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

int wait_for_end(pid_t process) {
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(process, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void write_to(const Pipe& pipe, int stream, StreamActions& actions) {
  ::posix_spawn_file_actions_adddup2(actions.get(), pipe.writing_end(), stream);
}

/// What the started program writes, until it and all that it has started have closed the pipe.
std::string read_to_end(Pipe& pipe) {
  pipe.close_writing_end();
  std::string text;
  pipe.read([&text](std::string_view part) { text += part; });
  return text;
}

void write_output_to(const std::filesystem::path& file, StreamActions& actions) {
  constexpr mode_t as_the_umask_says = 0666;
  if (!file.empty())
    ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       as_the_umask_says);
}

/// `heard`, if given: the pipe that the program writes to.
ProgramEnd run(std::vector<std::string>& words, StreamActions& actions, Pipe* heard = nullptr) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failure = ::posix_spawnp(&process, arguments.front(), actions.get(), nullptr, arguments.data(), environ);
  if (failure != 0) return {failure, 0, ""};
  std::string text = heard == nullptr ? "" : read_to_end(*heard);
  return {0, wait_for_end(process), std::move(text)};
}

}  // namespace

ProgramEnd run_program(std::vector<std::string> words) {
  StreamActions actions;
  return run(words, actions);
}

ProgramEnd run_silent_program(std::vector<std::string> words, const std::filesystem::path& output) {
  StreamActions actions;
  write_output_to(output, actions);
  Pipe errors;
  write_to(errors, STDERR_FILENO, actions);
  return run(words, actions, &errors);
}

std::string output_of(std::vector<std::string> words) {
  StreamActions actions;
  Pipe output;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) write_to(output, stream, actions);
  return run(words, actions, &output).text;
}

}  // namespace ut::launcher
