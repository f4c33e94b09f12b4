#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ut::launcher {

/// How a program ended that was to be run.
struct ProgramEnd {
  int not_started = 0;  // the errno if it could not be started
  int code = 0;         // exit code; -1: a signal ended it
  std::string text;     // what a silent program wrote to standard error

  bool is_well() const { return not_started == 0 && code == 0; }
};

/// Runs a program, found in PATH, and waits for its end. `words`: the program and its arguments.
ProgramEnd run_program(std::vector<std::string> words);

/// The same, but keeps standard error in `text`. `output`, if given, is a file for standard output.
ProgramEnd run_silent_program(std::vector<std::string> words, const std::filesystem::path& output = {});

/// What a program prints, on standard output and standard error; empty if it cannot be run.
std::string output_of(std::vector<std::string> words);

}  // namespace ut::launcher
