#include "launcher/process/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

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

/// What a program that is started writes.
class WrittenByProgram {
 public:
  WrittenByProgram() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  }
  ~WrittenByProgram() {
    ::close(ends_[0]);
    close_writing_end();
  }
  WrittenByProgram(const WrittenByProgram&) = delete;
  WrittenByProgram& operator=(const WrittenByProgram&) = delete;

  void take(int stream, StreamActions& actions) const {
    ::posix_spawn_file_actions_adddup2(actions.get(), ends_[1], stream);
  }

  /// All that comes until the last writer has closed it. The program has been started.
  std::string read_to_end() {
    close_writing_end();
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t count = 1; count != 0;) {
      count = ::read(ends_[0], part.data(), part.size());
      if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
      if (count < 0 && errno != EINTR) break;
    }
    return text;
  }

 private:
  void close_writing_end() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

  std::array<int, 2> ends_{};
};

void write_output_to(const std::filesystem::path& file, StreamActions& actions) {
  constexpr mode_t as_the_umask_says = 0666;
  if (!file.empty())
    ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       as_the_umask_says);
}

}  // namespace

ProgramEnd run_program(std::vector<std::string> words, const std::filesystem::path& output) {
  StreamActions actions;
  write_output_to(output, actions);
  pid_t process = 0;
  if (const int failure = start_program(words, actions, process); failure != 0) return {failure, 0, ""};
  return {0, wait_for_end(process), ""};
}

ProgramEnd run_silent_program(std::vector<std::string> words, const std::filesystem::path& output) {
  StreamActions actions;
  write_output_to(output, actions);
  WrittenByProgram errors;
  errors.take(STDERR_FILENO, actions);
  pid_t process = 0;
  if (const int failure = start_program(words, actions, process); failure != 0) return {failure, 0, ""};
  std::string said = errors.read_to_end();
  return {0, wait_for_end(process), std::move(said)};
}

std::string output_of(std::vector<std::string> words) {
  WrittenByProgram output;
  StreamActions actions;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) output.take(stream, actions);
  pid_t process = 0;
  if (start_program(words, actions, process) != 0) return "";
  std::string text = output.read_to_end();
  wait_for_end(process);
  return text;
}

}  // namespace ut::launcher
