#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/temporary_directory.h"

namespace ut::tests {

/// How a program ended and what it printed.
struct Outcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

/// Runs a shell command line.
Outcome run_shell(const std::string& command);
/// Runs the built program `ut` (environment variable UT) with these arguments, as a shell would split them.
Outcome run_ut(const std::string& arguments);

/// The same for the command line, or the arguments, that fmt::format() makes.
template <typename First, typename... Others>
Outcome run_shell(fmt::format_string<First, Others...> format, First&& first, Others&&... others) {
  return run_shell(fmt::format(format, std::forward<First>(first), std::forward<Others>(others)...));
}
template <typename First, typename... Others>
Outcome run_ut(fmt::format_string<First, Others...> format, First&& first, Others&&... others) {
  return run_ut(fmt::format(format, std::forward<First>(first), std::forward<Others>(others)...));
}

/// The one line of JSON that `ut` prints with these arguments; expects success and no other output.
nlohmann::json json_of_ut(const std::string& arguments);

/// The records of metrics.jsonl that have the key, in order.
std::vector<nlohmann::json> records_of(const std::string& run_directory, const std::string& key);
/// The loss of every update that metrics.jsonl has, in order.
std::vector<double> losses_of(const std::string& run_directory);

/// Expects the models' newest checkpoints to be equal within `tolerance`, relative to each tensor's largest value. In
/// float32 a largest value below 1 counts as 1 (biases start at 0).
void expect_equal_parameters(const std::string& expected_run, const std::string& actual_run, double tolerance);

/// Expects the same losses within a relative `tolerance`.
void expect_equal_losses(const std::vector<double>& expected, const std::vector<double>& actual, double tolerance);

}  // namespace ut::tests
