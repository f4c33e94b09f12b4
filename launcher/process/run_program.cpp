#include "launcher/process/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ut::launcher {
namespace {

/// What a program that is started does with its standard streams.
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

/// Returns errno's number where it cannot be started, else 0.
int start_program(std::vector<std::string>& words, StreamActions& actions, pid_t& process) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return ::posix_spawnp(&process, arguments.front(), actions.get(), nullptr, arguments.data(), environ);
}

int wait_for_end(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// All that comes until the last writer has closed it.
std::string read_to_end(int stream) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 1; count != 0;) {
    count = ::read(stream, part.data(), part.size());
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  return text;
}

}  // namespace

ProgramEnd run_program(std::vector<std::string> words, const std::filesystem::path& output) {
  StreamActions actions;
  constexpr mode_t as_the_umask_says = 0666;
  if (!output.empty())
    ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       as_the_umask_says);
  pid_t process = 0;
  if (const int failure = start_program(words, actions, process); failure != 0) return {failure, 0};
  return {0, wait_for_end(process)};
}

std::string output_of(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  StreamActions actions;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_adddup2(actions.get(), ends[1], stream);
  pid_t process = 0;
  const int failure = start_program(words, actions, process);
  ::close(ends[1]);
  const std::string text = read_to_end(ends[0]);
  ::close(ends[0]);
  if (failure == 0) wait_for_end(process);
  return text;
}

}  // namespace ut::launcher
