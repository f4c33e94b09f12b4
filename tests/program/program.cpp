#include "tests/program/program.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/safetensors.h"

namespace ut::tests {

Outcome run_shell(const std::string& command) {
  const TemporaryDirectory directory;
  const std::string output = directory / "output";
  const std::string errors = directory / "errors";
  const int status = std::system(fmt::format("({}) > {} 2> {} < /dev/null", command, output, errors).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), base::read_file(output),
          base::read_file(errors)};
}

Outcome run_ut(const std::string& arguments) {
  const char* program = std::getenv("UT");
  if (program == nullptr) throw std::runtime_error("the environment variable UT must name the program");
  return run_shell("{} {}", program, arguments);
}

nlohmann::json json_of_ut(const std::string& arguments) {
  const Outcome outcome = run_ut(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
  return nlohmann::json::parse(outcome.output);
}

std::vector<nlohmann::json> records_of(const std::string& run_directory, const std::string& key) {
  std::ifstream file(run_directory + "/metrics.jsonl");
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(file, line);)
    if (auto record = nlohmann::json::parse(line); record.contains(key)) records.push_back(std::move(record));
  return records;
}

std::vector<double> losses_of(const std::string& run_directory) {
  std::vector<double> losses;
  for (const auto& record : records_of(run_directory, "loss")) losses.push_back(record.at("loss").get<double>());
  return losses;
}

void expect_equal_losses(const std::vector<double>& expected, const std::vector<double>& actual, double tolerance) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t update = 0; update < expected.size(); ++update)
    EXPECT_NEAR(actual[update] / expected[update], 1, tolerance) << "update " << update + 1;
}

void expect_equal_parameters(const std::string& expected_run, const std::string& actual_run, double tolerance) {
  const auto read = [](const std::string& run) {
    return core::read_safetensors(core::find_checkpoint(run + "/checkpoints", "latest") / "model.safetensors").tensors;
  };
  const auto expected = read(expected_run);
  const auto actual = read(actual_run);
  ASSERT_EQ(expected.size(), actual.size());
  for (const auto& [name, tensor] : expected) {
    const double largest = tensor.abs().max().item<double>();
    const double scale = tensor.scalar_type() == at::kDouble ? largest : std::max(1.0, largest);
    const double difference = (tensor - actual.at(name)).abs().max().item<double>();
    EXPECT_LE(difference, tolerance * scale) << name;
  }
}

}  // namespace ut::tests
