// The same curve on every mesh: the losses of all updates and the parameters after them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/program/passages.h"
#include "tests/program/program.h"

namespace ut::tests {
namespace {

struct Mesh {
  int ranks;
  int sequence_parallel;
};

/// Ragged lengths, dropout, clipping, accumulation and random offsets; a batch that four groups cannot share evenly.
/// Adam divides a gradient by its own size. If a gradient is almost zero (a ReLU that one row alone switches on), Adam
/// would turn float32's last bit into a step of the learning rate: hence the large epsilon and the small rate.
std::string training(const std::string& model, const std::string& dtype, int updates) {
  return fmt::format(
      "train --d-model 16 --heads 4 --ffn 32 --steps 3 --dropout 0.2 {} --accumulate 2 --clip-norm 1 "
      "--random-offset 9 --schedule constant --learning-rate 0.0005 --epsilon 1e-4 --warmup 10 --max-updates {} "
      "--log-every 1 "
      "--evaluate-every 0 --checkpoint-every 0 --evaluation-limit 4 --seed 3 --dtype {} {}",
      model.find("--batch-rows") == std::string::npos ? "--batch 6" : "", updates, dtype, model);
}

/// Models that are compared for longer and, in float64, on all meshes. tests/mpi has the others on each mesh, too.
bool is_compared_most(const std::string& model) { return model == "paper" || model == "act_copy"; }

/// float64's much tighter tolerance finds in 20 updates what float32's needs 50 for.
int updates_in(const std::string& dtype) { return dtype == "float32" ? 50 : 20; }

/// The meshes to compare with one rank, at least those that reorder sums most.
std::vector<Mesh> meshes_of(const std::string& model, const std::string& dtype) {
  if (dtype == "float64" && is_compared_most(model)) return {{2, 1}, {2, 2}, {4, 2}, {4, 1}, {4, 4}, {3, 3}};
  if (dtype == "float64" && model == "act") return {{4, 1}, {4, 2}, {3, 3}};  // its batches are filled by rows
  return {{4, 2}, {3, 3}};
}

/// How many positions took 1, 2, … steps in each update, over all ranks.
std::vector<nlohmann::json> ponder_of(const std::string& run) {
  std::vector<nlohmann::json> counts;
  for (const nlohmann::json& record : records_of(run, "loss"))
    if (record.contains("ponder"))
      for (const auto& [stack, ponder] : record.at("ponder").items()) counts.push_back(ponder.at("histogram"));
  return counts;
}

class Training : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  /// The task's options; makes its data if it needs files.
  std::string task(const std::string& model) const {
    std::string addition = "--task addition --train-length 9 --evaluation-length 9 --evaluation-examples 4";
    const std::string tensor2tensor = " --variant tensor2tensor --transition separable-convolution";
    const std::string halting = " --steps 5 --halting-bias -1 --ponder-weight 0.1 --ponder-warmup 20 --halting ";
    if (model == "paper") return addition;
    if (model == "tensor2tensor") return addition + tensor2tensor;
    if (model == "act") return addition + tensor2tensor + halting + "act --batch-rows 70 --batch-window 40";
    if (model == "act_copy") return addition + halting + "act-copy --balance 1.2";
    if (model == "language_model" || model == "pointing") {
      std::string passages;
      for (int passage = 0; passage < 40; ++passage) {
        for (int word = 0; word <= 3 + passage % 9; ++word)
          passages += fmt::format("w{} ", (passage * 7 + word * word * 3) % 11);
        passages += fmt::format("w{}\n", passage * 7 % 11);  // the first word again
      }
      write_passages(directory_, passages);
      return "--task lambada --data " + directory_.path().string() + halting + "act-copy --lambada-form " +
             (model == "pointing" ? "pointing" : "language-model");
    }
    const std::string stories = directory_ / "stories";
    EXPECT_EQ(run_ut("data stories --facts 2 --train 200 --validation 20 --test 20 --out " + stories).exit_code, 0);
    return "--task babi --babi-task 2 --data " + stories;
  }

  TemporaryDirectory directory_;
};

TEST_P(Training, GivesTheSameCurveOnEveryMesh) {
  const auto& [model, dtype] = GetParam();
  const double tolerance = dtype == "float64" ? 1e-9 : 1e-4;
  const int updates = is_compared_most(model) ? 50 : updates_in(dtype);
  const std::string command = training(task(model), dtype, updates);
  const std::string one_rank = directory_ / "one-rank";
  ASSERT_EQ(run_ut(command + " --run-dir " + one_rank).exit_code, 0);
  ASSERT_EQ(losses_of(one_rank).size(), updates);
  for (const auto& [ranks, sequence_parallel] : meshes_of(model, dtype)) {
    SCOPED_TRACE(fmt::format("{} ranks, sequence-parallel {}", ranks, sequence_parallel));
    const std::string run = directory_ / fmt::format("{}-{}", ranks, sequence_parallel);
    const Outcome outcome =
        run_ut("{} --ranks {} --sequence-parallel {} --run-dir {}", command, ranks, sequence_parallel, run);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, testing::HasSubstr(fmt::format("{} ranks,", ranks)));
    expect_equal_losses(losses_of(one_rank), losses_of(run), tolerance);
    expect_equal_parameters(one_rank, run, tolerance);
    if (dtype == "float64") {
      EXPECT_EQ(ponder_of(one_rank), ponder_of(run));
    }
  }
}

/// Ways of halting in both stacks with exchange forms, each with other settings, against one rank. There are so many
/// ranks that a ring has more than one hop. tests/mpi has every way of halting with every form.
class ExchangeForms : public testing::TestWithParam<std::tuple<std::string, std::string, std::vector<std::string>>> {
 protected:
  TemporaryDirectory directory_;
};

TEST_P(ExchangeForms, GiveTheSameCurveAsOneRank) {
  const auto& [halting, dtype, exchanges] = GetParam();
  const double tolerance = dtype == "float64" ? 1e-9 : 1e-4;
  const std::string task = "--task addition --train-length 9 --evaluation-length 9 --evaluation-examples 4 ";
  const std::string command = training(task + halting, dtype, updates_in(dtype));
  const std::string one_rank = directory_ / "one-rank";
  ASSERT_EQ(run_ut(command + " --run-dir " + one_rank).exit_code, 0);
  for (const std::string& exchange : exchanges) {
    SCOPED_TRACE(exchange);
    const std::string run = directory_ / exchange;
    const Outcome outcome = run_ut("{} {} --ranks 4 --sequence-parallel 4 --run-dir '{}'", command, exchange, run);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, testing::HasSubstr("4 ranks,"));
    expect_equal_losses(losses_of(one_rank), losses_of(run), tolerance);
    expect_equal_parameters(one_rank, run, tolerance);
  }
}

const std::string lively = "--steps 5 --halting-bias -1 --ponder-weight 0.1 --ponder-warmup 20 ";
const std::string both_halt = lively + "--halting act-copy --decoder-halting act";
const std::vector<std::string> some_forms = {"--exchange broadcast --shards zigzag", "--exchange heads",
                                             "--exchange all-gather --recompute step"};
const std::vector<std::string> other_forms = {"--exchange ring --exchange-sends states --shards zigzag",
                                              "--exchange all-gather --exchange-sends states --shards contiguous",
                                              "--exchange ring --recompute step"};

INSTANTIATE_TEST_SUITE_P(
    , ExchangeForms,
    testing::Values(std::tuple("--halting none", "float64", some_forms), std::tuple(both_halt, "float64", other_forms),
                    std::tuple(both_halt, "float32", some_forms), std::tuple(both_halt, "float32", other_forms),
                    std::tuple(both_halt + " --transition separable-convolution", "float64", other_forms),
                    std::tuple(lively + "--halting act --decoder-halting act-copy", "float64", some_forms)));

INSTANTIATE_TEST_SUITE_P(, Training,
                         testing::Combine(testing::Values("paper", "tensor2tensor", "stories", "act", "act_copy",
                                                          "language_model", "pointing"),
                                          testing::Values("float64", "float32")),
                         [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param); });

}  // namespace
}  // namespace ut::tests
