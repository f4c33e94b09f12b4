// `ut plan` and `ut doctor`: what they print, and that they leave nothing behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "tests/program/program.h"

namespace ut::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string tiny_plan = "--d-model 16 --heads 2 --ffn 32 --batch 8 --length 12 --vocab 16 --threads 1 ";

json plan(const std::string& options) { return json_of_ut("plan --json " + tiny_plan + options); }

TEST(Plan, MeasuresAndPredictsEveryMesh) {
  const json result = plan("--ranks 2");
  EXPECT_EQ(result.at("prediction"), true);
  EXPECT_EQ(result.at("ranks"), 2);
  EXPECT_THAT(result.at("machine").get<std::string>(), HasSubstr("measured on 2 ranks on 1 host"));
  std::vector<std::int64_t> cuts;
  for (const json& one : result.at("candidates")) {
    EXPECT_GT(one.at("update_s"), 0);
    EXPECT_GT(one.at("peak_bytes"), 0);
    EXPECT_GE(one.at("update_s"), result.at("best").at("update_s"));
    cuts.push_back(one.at("sequence_parallel"));
  }
  EXPECT_THAT(cuts, testing::Contains(1));
  EXPECT_THAT(cuts, testing::Contains(2));
}

TEST(Plan, IsTheSameWithTheSameCalibration) {
  const TemporaryDirectory directory;
  const auto numbers = directory / "numbers.json";
  const json measured = plan("--save-calibration " + numbers);
  const json again = plan("--calibration " + numbers);
  EXPECT_EQ(again.at("candidates"), measured.at("candidates"));
  EXPECT_EQ(plan("--calibration " + numbers + " --ranks 64").at("ranks"), 64);
}

TEST(Plan, OneProcessPlansForThousandsOfGpus) {
  const json result = plan("--machine h200 --nodes 512 --gpus-per-node 8 --batch 4096");
  EXPECT_EQ(result.at("ranks"), 4096);
  EXPECT_EQ(result.at("nodes"), 512);
  EXPECT_FALSE(result.at("reasons").empty());
}

TEST(Plan, RanksAndNodesGiveTheRanksPerNode) {
  const json result = plan("--machine h100 --nodes 2 --ranks 4");
  EXPECT_EQ(result.at("ranks"), 4);
  EXPECT_EQ(result.at("nodes"), 2);
  EXPECT_EQ(result.at("ranks_per_node"), 2);
}

TEST(Plan, SaysInWordsThatItIsPrediction) {
  const Outcome outcome = run_ut("plan --machine h200 --ranks 16 " + tiny_plan);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, testing::StartsWith("prediction, not measurement"));
  EXPECT_THAT(outcome.output, HasSubstr("--sequence-parallel"));
}

TEST(Plan, BadInputGivesOneLine) {
  const TemporaryDirectory directory;
  const auto broken = directory.write("broken.json", "{}").string();
  for (const std::string& options :
       {std::string("--calibration nowhere.json"), "--calibration " + broken, std::string("--machine abacus")}) {
    const Outcome outcome = run_ut("plan " + options);
    EXPECT_EQ(outcome.exit_code, 2) << options;
    EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::Not(HasSubstr("rank 0")));
  }
}

TEST(Plan, SaysHowManyMeshesAreNotConsidered) {
  const std::string longest = "plan --machine h200 --ranks 1000 --length ";
  EXPECT_THAT(run_ut(longest + "40").output, HasSubstr("\n  and 7 more, not considered: "));
  EXPECT_THAT(run_ut(longest + "1000").output, testing::Not(HasSubstr("not considered")));
}

TEST(Plan, ChoosesTheMeshOfATrainingThatLeavesItOpen) {
  const TemporaryDirectory directory;
  const std::string training =
      "train --task reverse --train-length 20 --evaluation-length 20 --evaluation-examples 4 --d-model 16 --heads 2 "
      "--ffn 32 --steps 2 --batch 1 --dtype float64 --max-updates 20 --log-every 1 --evaluate-every 0 --threads 1 "
      "--exchange auto --run-dir ";
  const std::string alone = directory / "alone";
  const std::string planned = directory / "planned";
  ASSERT_EQ(run_ut(training + alone).exit_code, 0);
  const Outcome outcome = run_ut(training + planned + " --ranks 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const std::string recorded = base::read_file(planned + "/options.conf");
  const bool is_cut = outcome.output.find("mesh that ut plan chooses: data-parallel 1, sequence-parallel 2") == 0;
  const bool is_whole = outcome.output.find("mesh that ut plan chooses: data-parallel 2, sequence-parallel 1") == 0;
  EXPECT_NE(is_cut, is_whole) << outcome.output;
  EXPECT_THAT(recorded, HasSubstr(is_cut ? "\nsequence-parallel = 2\n" : "\nsequence-parallel = 1\n"));
  // What had no choice is left open for more ranks.
  EXPECT_EQ(recorded.find("exchange = auto\n") == std::string::npos, is_cut) << recorded;
  EXPECT_THAT(base::read_file(alone + "/options.conf"), HasSubstr("exchange = auto\n"));
  expect_equal_losses(losses_of(alone), losses_of(planned), 1e-9);
}

TEST(Plan, RanksOnOneCoreWaitForIt) {
  const Outcome outcome = run_shell("taskset -c 0 $UT plan --nodes 1 --ranks 4 --d-model 16 --ffn 32 --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_LE(nlohmann::json::parse(outcome.output).at("best").at("efficiency").get<double>(), 0.26);
}

TEST(Doctor, LooksAtRanksLinksAndTheSharedDirectory) {
  const TemporaryDirectory directory;
  const auto runs = directory / "runs";
  const Outcome outcome = run_ut("doctor --ranks 2 --threads 1 --run-dir " + runs + "/of/today");
  EXPECT_THAT(outcome.output, HasSubstr("2 on 1 host"));
  EXPECT_THAT(outcome.output, HasSubstr("ok     products   "));
  EXPECT_THAT(outcome.output, HasSubstr("within"));
  EXPECT_THAT(outcome.output, HasSubstr("2 of 2 ranks see what rank 0 writes, 2 may write"));
  EXPECT_EQ(outcome.exit_code, outcome.output.find("\nfault") == std::string::npos ? 0 : 1) << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(runs));
}

TEST(Doctor, NamesTheRemedyBesideAFault) {
  const Outcome outcome =
      run_ut("doctor --threads {} --run-dir /proc/nowhere", std::thread::hardware_concurrency() + 1);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("fault  cores"));
  EXPECT_THAT(outcome.output, HasSubstr("fault  directory"));
  EXPECT_EQ(outcome.output.find("fault  ranks"), std::string::npos);
  std::size_t remedies = 0;
  for (std::size_t at = 0; (at = outcome.output.find("remedy: ", at)) != std::string::npos; ++at) ++remedies;
  EXPECT_GE(remedies, 2) << outcome.output;
}

TEST(Doctor, ReportsADirectoryThatCannotBeExamined) {
  const Outcome outcome = run_ut("doctor --threads 1 --run-dir /tmp/" + std::string(300, 'x'));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_THAT(outcome.output, HasSubstr("fault  directory"));
}

TEST(Doctor, ReportsFaultsOfOtherRanks) {
  const TemporaryDirectory directory;
  const auto mpirun = directory.write("mpirun", "#!/bin/sh\necho mpirun 9.8.7\n");
  std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
  const Outcome outcome = run_shell(
      "OMP_NUM_THREADS=1 mpirun --quiet --allow-run-as-root --oversubscribe --bind-to none -n 1 {0} doctor : -n 1 env "
      "PATH={1}:$PATH {0} doctor",
      std::getenv("UT"), directory.path().string());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, testing::ContainsRegex("fault +MPI +[^ ]+: .*mpirun is version 9.8.7"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("ok +MPI"));
}

}  // namespace
}  // namespace ut::tests
