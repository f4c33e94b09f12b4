// `ut bench`: what it prints, that it measures what it says, and that it leaves nothing behind.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/temporary_directory.h"

namespace ut::tests {
namespace {

using nlohmann::json;

const std::string tiny_bench =
    "--d-model 16 --heads 2 --ffn 32 --batch 4 --length 12 --vocab 16 --iterations 2 --threads 1 --json ";

json bench(const std::string& options) { return json_of_ut("bench " + tiny_bench + options); }

std::int64_t sent(const json& result, const std::string& purpose) {
  return result.at("sent_bytes_per_update").at(purpose).get<std::int64_t>();
}

TEST(Bench, SaysWhatItMeasured) {
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(fmt::format("{} ranks", ranks));
    const json result = bench(fmt::format("--ranks {}", ranks));
    const auto number = [&result](const char* key) { return result.at(key).get<double>(); };
    EXPECT_GT(number("median_step_s"), 0);
    const auto quartiles = result.at("quartiles_step_s").get<std::vector<double>>();
    ASSERT_EQ(quartiles.size(), 2);
    EXPECT_LE(quartiles[0], number("median_step_s"));
    EXPECT_GE(quartiles[1], number("median_step_s"));
    EXPECT_NEAR(number("tokens_per_s") * number("median_step_s"), 4 * (12 + 12), 1e-6);
    EXPECT_EQ(result.at("rows_per_s"), result.at("tokens_per_s"));
    EXPECT_GT(number("gemm_fraction"), 0);
    EXPECT_LT(number("gemm_fraction"), 1);
    EXPECT_GT(number("activation_bytes"), 0);
    EXPECT_GT(number("peak_bytes"), number("activation_bytes"));
    EXPECT_TRUE(result.at("ponder").is_null());
    EXPECT_EQ(result.at("ranks"), ranks);
    EXPECT_EQ(result.at("iterations"), 2);
    EXPECT_EQ(result.at("options").at("d-model"), 16);
    EXPECT_EQ(result.at("options").at("ranks"), ranks);
    EXPECT_EQ(result.at("options").at("halting"), "none");
    EXPECT_EQ(sent(result, "gradients") > 0, ranks > 1);
  }
}

TEST(Bench, CountsParametersAndTheWorkOfProducts) {
  const json result = bench("--encoder-only --steps 3");
  EXPECT_EQ(result.at("table_parameters"), 16 * 16);
  // The table; attention's four matrices, the transition's two with their biases, two norms.
  EXPECT_EQ(result.at("parameters"), 16 * 16 + 4 * 16 * 16 + 2 * 16 * 32 + 32 + 16 + 2 * 2 * 16);
  // Three steps: 48 rows go through these matrices, each attends to 12 keys and values. Then the scores of 4 answers.
  constexpr std::int64_t rows = 48;
  constexpr std::int64_t of_step = rows * (4 * 16 * 16 + 2 * 16 * 32) + rows * 12 * 2 * 16;
  constexpr std::int64_t scores = std::int64_t{4} * 16 * 16;
  constexpr std::int64_t multiplied = 3 * of_step + scores;
  EXPECT_EQ(result.at("flops_per_update"), 6 * multiplied);  // forward, and twice that backward
  for (const std::string ranks : {"--ranks 2 --sequence-parallel 1", "--ranks 2 --sequence-parallel 2"})
    EXPECT_EQ(bench("--encoder-only --steps 3 " + ranks).at("flops_per_update"), 6 * multiplied) << ranks;
  // With halting, the products of as many steps as positions take.
  const auto halting = [](double ponder) {
    return bench(fmt::format("--encoder-only --halting act-copy --max-steps 6 --bench-ponder {}", ponder))
        .at("flops_per_update")
        .get<double>();
  };
  EXPECT_EQ(halting(1), 6 * (of_step + scores));
  EXPECT_EQ(halting(6), 6 * (6 * of_step + scores));
}

TEST(Bench, SaysWhatEachExchangeFormSendsAndHowLongARankWaitsForIt) {
  const auto exchanged = [](const std::string& options) {
    const json result = bench("--encoder-only --steps 3 --ranks 2 --sequence-parallel 2 --halting none " + options);
    EXPECT_GT(result.at("exposed_exchange_s").get<double>(), 0) << options;
    EXPECT_GT(result.at("exposed_s").at("gradients").get<double>(), 0) << options;
    return sent(result, "exchange");
  };
  // Forward and backward, 4 sequences of 12 rows in float32 at each of 3 steps: states. Keys and values are twice that.
  constexpr std::int64_t of_states = std::int64_t{2} * 4 * 12 * 16 * 4 * 3;
  for (const std::string form : {"all-gather", "broadcast", "ring"}) {
    EXPECT_EQ(exchanged("--exchange " + form), 2 * of_states) << form;
    EXPECT_EQ(exchanged("--exchange-sends states --exchange " + form), of_states) << form;
  }
  // Half of each row's heads change ranks: queries, keys and values one way, outputs back.
  EXPECT_EQ(exchanged("--exchange heads"), of_states * 4 / 2);
}

TEST(Bench, HoldsParametersGradientsAndMomentsBesideActivations) {
  const json narrow = bench("--ffn 1000 --steps 1");
  const json wide = bench("--ffn 1001 --steps 1");
  const auto held = [](const json& result) {
    return result.at("peak_bytes").get<std::int64_t>() - result.at("activation_bytes").get<std::int64_t>();
  };
  constexpr std::int64_t more_parameters =
      std::int64_t{2} * (16 + 1 + 16);  // a column, a bias and a row, in both stacks
  constexpr std::int64_t copies = 4;    // values, gradients, two moments
  EXPECT_EQ(held(wide) - held(narrow), more_parameters * copies * 4);
}

TEST(Bench, ActivationsGrowWithSteps) {
  const auto activations = [](int steps) {
    return bench(fmt::format("--steps {}", steps)).at("activation_bytes").get<double>();
  };
  const double two = activations(2);
  const double four = activations(4);
  EXPECT_NEAR((activations(8) - four) / (four - two), 2, 0.05);
}

TEST(Bench, ActivationsGrowWithPonderTimeWhereHaltedRowsAreLeftOut) {
  for (const std::string transition : {"feed-forward", "separable-convolution"}) {
    const auto activations = [&transition](int ponder) {
      return bench(fmt::format("--d-model 64 --ffn 256 --batch 16 --steps 12 --halting act-copy --transition {} "
                               "--bench-ponder {}",
                               transition, ponder))
          .at("activation_bytes")
          .get<double>();
    };
    // A quarter, plus what does not depend on steps.
    EXPECT_LT(activations(3), 0.4 * activations(12)) << transition;
  }
}

TEST(Bench, AnUpdateReusesTheBuffersOfTheOneBefore) {
  for (const std::string halting : {"none", "act", "act-copy --bench-ponder 3"}) {
    const json result = bench("--d-model 64 --ffn 256 --batch 16 --steps 6 --iterations 40 --halting " + halting);
    constexpr double page = 4096;
    EXPECT_LT(page * result.at("page_faults_per_update").get<double>(),
              0.02 * result.at("activation_bytes").get<double>())
        << halting;
  }
}

TEST(BenchTimes, GreedyDecodingReusesEarlierPositions) {
  const auto seconds = [](int length) {
    return bench(fmt::format("--greedy --iterations 9 --d-model 64 --ffn 256 --length {}", length))
        .at("median_step_s")
        .get<double>();
  };
  EXPECT_LT(seconds(160), 20 * seconds(20));  // recomputing all positions for each symbol would take 64 times as long
}

TEST(Bench, RecomputedStepsTakeLittleMemory) {
  const auto activations = [](const std::string& recompute, int steps) {
    return bench(fmt::format("--d-model 64 --heads 4 --ffn 256 --batch 16 --steps {} --recompute {}", steps, recompute))
        .at("activation_bytes")
        .get<double>();
  };
  EXPECT_LT(activations("step", 12), 1.5 * activations("step", 2));
  EXPECT_GT(activations("none", 12), 4 * activations("none", 2));
  for (const std::string transition : {"feed-forward", "separable-convolution"}) {
    const auto with_halting = [&](const std::string& recompute, int steps, int ponder) {
      return activations(
          fmt::format("{} --halting act-copy --bench-ponder {} --transition {}", recompute, ponder, transition), steps);
    };
    EXPECT_LT(with_halting("step", 12, 12), 1.7 * with_halting("step", 2, 2)) << transition;
    EXPECT_LT(with_halting("step", 12, 6), 1.3 * with_halting("step", 2, 2)) << transition;
    EXPECT_LT(with_halting("step", 12, 6), 0.4 * with_halting("none", 12, 6)) << transition;
  }
}

TEST(Bench, ATraceShowsStepsAttentionProductsAndWaiting) {
  const TemporaryDirectory directory;
  const std::string file = directory / "trace.json";
  bench("--ranks 2 --sequence-parallel 2 --steps 3 --profile " + file);
  std::map<std::string, int> seen;  // on rank 1
  const json trace = json::parse(std::ifstream(file));
  for (const json& event : trace.at("traceEvents")) {
    EXPECT_GE(event.at("dur").get<double>(), 0);
    if (event.at("pid") == 1) ++seen[event.at("name").get<std::string>()];
  }
  EXPECT_EQ(seen["encoder step"], 3);
  EXPECT_EQ(seen["decoder step"], 3);
  EXPECT_EQ(seen["attention"], 15) << "an encoder's and a decoder's over two ranks' rows, and over the memory";
  EXPECT_EQ(seen["attention, backward"], 15);
  EXPECT_GE(seen["waiting for other ranks: exchange"], 12);
  EXPECT_GE(seen["product"], 9);
}

TEST(Bench, GradientsAreSentOnceHoweverManySteps) {
  const std::string ranks = "--ranks 2 --sequence-parallel 2 ";
  const json few = bench(ranks + "--steps 2");
  const json many = bench(ranks + "--steps 6");
  EXPECT_EQ(sent(few, "gradients"), sent(many, "gradients"));
  EXPECT_GT(sent(many, "exchange"), 2 * sent(few, "exchange"));
}

TEST(Bench, PonderTimesHaveTheMeanThatIsAskedFor) {
  for (const std::string halting : {"act", "act-copy"}) {
    SCOPED_TRACE(halting);
    const std::string options = fmt::format("--halting {} --max-steps 8 --length 60 ", halting);
    EXPECT_NEAR(bench(options + "--bench-ponder 3").at("ponder").get<double>(), 3, 0.4);
    EXPECT_EQ(bench(options + "--bench-ponder 1").at("ponder"), 1);
    EXPECT_EQ(bench(options + "--bench-ponder 8").at("ponder"), 8);
  }
}

TEST(Bench, PonderTimesAreTheSameOnEveryMesh) {
  const std::string options = "--halting act-copy --max-steps 6 --bench-ponder 2.5 --min-length 1 ";
  const json one = bench(options);
  const json two = bench(options + "--ranks 2 --sequence-parallel 2");
  EXPECT_EQ(one.at("ponder_detail"), two.at("ponder_detail"));
}

TEST(Bench, PositionsThatHaltedAreNotSent) {
  const std::string options = "--ranks 2 --sequence-parallel 2 --encoder-only ";
  const json all = bench(options + "--steps 12");
  const json halting = bench(options + "--halting act-copy --max-steps 12 --bench-ponder 3");
  EXPECT_LT(sent(halting, "exchange"), sent(all, "exchange") / 2);
}

TEST(Bench, RunsUnderMpirun) {
  const Outcome outcome =
      run_shell("mpirun --quiet --allow-run-as-root --oversubscribe -n 2 {} bench {}", std::getenv("UT"), tiny_bench);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(json::parse(outcome.output).at("ranks"), 2);
}

TEST(Bench, PrintsResultsInWordsAndWritesNoFile) {
  const TemporaryDirectory directory;
  const std::string command = fmt::format(
      "cd {} && {} bench --d-model 16 --heads 2 --ffn 32 --batch 2 --length 4 "
      "--iterations 1 --threads 1 --halting act",
      directory.path().string(), std::getenv("UT"));
  const Outcome outcome = run_shell(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, testing::AllOf(testing::HasSubstr("tokens/s"), testing::HasSubstr("ponder time")));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Bench, WhatCannotBeMeasuredIsRefusedInOneLine) {
  const std::pair<std::string, std::string> wrong[] = {{"--bench-ponder", "3"},
                                                       {"--halting act --steps 4 --bench-ponder", "5"},
                                                       {"--halting act --bench-ponder", "0.5"},
                                                       {"--min-length", "13"}};
  for (const auto& [options, value] : wrong) {
    SCOPED_TRACE(options);
    const Outcome outcome = run_ut("bench {} {} {} --ranks 2", tiny_bench, options, value);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, testing::HasSubstr(options.substr(options.rfind("--"))));
    EXPECT_THAT(outcome.errors, testing::HasSubstr(value));
    EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
  }
}

}  // namespace
}  // namespace ut::tests
