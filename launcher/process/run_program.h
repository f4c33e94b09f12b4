#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ut::launcher {

/// What became of a program that was to be run.
struct ProgramEnd {
  int not_started = 0;  // why it could not be, as errno says it
  int code = 0;         // that it ended with; -1: a signal ended it
  std::string errors;   // what a silent program wrote to standard error

  bool is_well() const { return not_started == 0 && code == 0; }
};

/// Runs a program, found in PATH, with its arguments (`words`, the program first) and waits for its end; its standard
/// output goes to a file where one is named.
ProgramEnd run_program(std::vector<std::string> words, const std::filesystem::path& output = {});

/// The same, but for standard error, which is kept.
ProgramEnd run_silent_program(std::vector<std::string> words, const std::filesystem::path& output = {});

/// What such a program prints, its errors included; empty where it cannot be run.
std::string output_of(std::vector<std::string> words);

}  // namespace ut::launcher
