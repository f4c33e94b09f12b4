// Translation between two made-up languages, from the files to a score.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "tests/datasets/toy_parallel_text.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A model trained for some 20 s. All tests share it, and change only copies.
class Translation : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = std::make_unique<TemporaryDirectory>();
    write_toy_parallel_text(*directory, 3000, 100);
    ASSERT_EQ(run_ut("data sentencepiece --vocabulary-size 100 --data {}", data()).exit_code, 0);
    const Outcome trained = run_ut(
        "train --task translation --data {} --run-dir {} --d-model 64 --heads 4 --ffn 128 --steps 2 --batch-rows 1200 "
        "--batch-window 256 --dropout 0 --label-smoothing 0 --learning-rate 0.002 --schedule cosine --warmup 50 "
        "--max-updates 1000 --evaluate-every 500 --checkpoint-every 0 --threads 1 --seed 2",
        data(), run());
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }
  static void TearDownTestSuite() { directory.reset(); }

  static std::string data() { return directory->path().string(); }
  static std::string run() { return *directory / "run"; }
  static Outcome decode(const std::string& lines, const std::string& options) {
    const std::string file = directory->write("lines", lines).string();
    return run_shell("{} decode {} < {}", std::getenv("UT"), options, file);
  }
  /// A copy of the run whose data directory does not exist.
  static std::string moved_run(const TemporaryDirectory& place) {
    std::filesystem::copy(run(), place / "run", std::filesystem::copy_options::recursive);
    const std::string config = place / "run/options.conf";
    std::string options = base::read_file(config);
    for (auto found = options.find(data()); found != std::string::npos; found = options.find(data()))
      options.replace(found, data().size(), "/gone");
    place.write("run/options.conf", options);
    return place / "run";
  }

  static inline std::unique_ptr<TemporaryDirectory> directory;
};

TEST_F(Translation, IsLearnedAndScoredAsText) {
  const auto scores = json_of_ut("evaluate --json --run-dir " + run());
  EXPECT_GT(scores.at("bleu").get<double>(), 80);
  EXPECT_EQ(scores.at("bleu_signature"), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_GT(scores.at("bleu_tokenised_split").get<double>(), 80);
  EXPECT_EQ(scores.at("sequences"), 100);
  for (const int sequence_parallel : {1, 2}) {
    const auto shared = json_of_ut(
        fmt::format("evaluate --json --ranks 2 --sequence-parallel {} --run-dir {}", sequence_parallel, run()));
    EXPECT_EQ(shared.at("bleu"), scores.at("bleu"));
  }
  EXPECT_FALSE(json_of_ut("evaluate --json --teacher-forced --run-dir " + run()).contains("bleu"));
}

TEST_F(Translation, EverySplitThereIsCanBeReported) {
  const TemporaryDirectory place;
  const std::string report = fmt::format("report {} --quiet --out {} --split ", run(), place / "report.html");
  for (const std::string split : {"train", "validation", "test"})
    EXPECT_EQ(run_ut(report + split).exit_code, 0) << split;
  for (const std::string& command : {report + "control", "evaluate --split control --run-dir " + run()}) {
    const Outcome none = run_ut(command);
    EXPECT_EQ(none.exit_code, 2) << command;
    EXPECT_THAT(none.errors, HasSubstr("--split control: this data has none"));
  }
}

TEST_F(Translation, ScoreOfTheDecodedLinesIsThatOfTheEvaluation) {
  directory->write("gaps.en", "\n" + base::read_file(data() + "/test.en"));  // an empty line has a translation, too
  directory->write("gaps.de", "nichts\n" + base::read_file(data() + "/test.de"));
  for (const std::string set : {"test", "gaps"}) {
    const Outcome evaluated = run_ut("evaluate --test-set {} --run-dir {}", set, run());
    const Outcome decoded = decode(base::read_file(fmt::format("{}/{}.en", data(), set)), "--run-dir " + run());
    ASSERT_EQ(decoded.exit_code, 0) << decoded.errors;
    const std::string file = directory->write("decoded", decoded.output).string();
    const Outcome scored = run_shell("{} score --reference {}/{}.de < {}", std::getenv("UT"), data(), set, file);
    ASSERT_EQ(scored.exit_code, 0) << scored.errors;
    EXPECT_THAT(evaluated.output, HasSubstr("\n" + scored.output)) << set;
    EXPECT_EQ(scored.output.find("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = "), 0u);
  }
}

TEST_F(Translation, ScoreOfFewerExamplesIsThatOfEveryFourthLine) {
  const auto every_fourth = [](const std::string& text) {
    std::istringstream lines(text);
    std::string some;
    std::string line;
    for (int number = 0; std::getline(lines, line); ++number)
      if (number % 4 == 0) some += line + "\n";
    return some;
  };
  const Outcome decoded = decode(base::read_file(data() + "/test.en"), "--run-dir " + run());
  directory->write("few.de", every_fourth(base::read_file(data() + "/test.de")));
  const std::string file = directory->write("few.decoded", every_fourth(decoded.output)).string();
  const Outcome scored = run_shell("{} score --reference {}/few.de < {}", std::getenv("UT"), data(), file);
  ASSERT_EQ(scored.exit_code, 0) << scored.errors;
  for (const std::string ranks : {"", " --ranks 2 --sequence-parallel 1"}) {
    const Outcome evaluated = run_ut("evaluate --evaluation-limit 25 --run-dir " + run() + ranks);
    EXPECT_THAT(evaluated.output, HasSubstr("\n" + scored.output)) << evaluated.errors;
  }
}

TEST_F(Translation, EmptyLinesStayEmpty) {
  const std::string line = base::read_file(data() + "/test.en").substr(0, 5);
  const Outcome decoded = decode("\n" + line + "\n  \n" + line + "\n\n", "--evaluation-batch 1 --run-dir " + run());
  ASSERT_EQ(decoded.exit_code, 0) << decoded.errors;
  EXPECT_EQ(std::ranges::count(decoded.output, '\n'), 5);
  EXPECT_EQ(decoded.output.front(), '\n');
  EXPECT_THAT(decoded.output, testing::EndsWith("\n\n"));
  EXPECT_NE(decoded.output, "\n\n\n\n\n");
  EXPECT_EQ(decode("", "--run-dir " + run()).output, "");
  EXPECT_EQ(decode("\n", "--ranks 2 --sequence-parallel 2 --run-dir " + run()).output, "\n");
  EXPECT_EQ(decode("\n", "--json --run-dir " + run()).output, "{\"input\":\"\",\"output\":\"\"}\n");
}

TEST_F(Translation, TheRunIsEnoughToDecode) {
  const TemporaryDirectory place;
  const std::string moved = moved_run(place);
  const std::string line = base::read_file(data() + "/test.en");
  const Outcome decoded = decode(line, "--run-dir " + moved);
  EXPECT_EQ(decoded.exit_code, 0) << decoded.errors;
  EXPECT_EQ(decoded.output, decode(line, "--run-dir " + run()).output);
  expect_refused(run_ut("evaluate --run-dir " + moved), HasSubstr("--data /gone: no such directory"));
  EXPECT_EQ(run_ut("evaluate --data {} --run-dir {}", data(), moved).exit_code, 0);
}

TEST_F(Translation, TheRunIsEnoughToExport) {
  const TemporaryDirectory place;
  const std::string moved = moved_run(place);
  const auto exported = [&](const std::string& name, const std::string& options) {
    return run_ut("export --run-dir {} --out {} {}", moved, place / name, options);
  };
  const Outcome model = exported("model", "");
  EXPECT_EQ(model.exit_code, 0) << model.errors;
  EXPECT_TRUE(std::filesystem::exists(place / "model/sentencepiece.model"));
  std::filesystem::rename(place / "model", place / "brought");  // as on another machine, without the run
  std::filesystem::rename(moved, place / "away");
  std::filesystem::copy(data(), place / "bare");
  std::filesystem::remove(place / "bare/sentencepiece.model");
  const Outcome imported =
      run_ut("import --from {} --run-dir {} --data {}", place / "brought", place / "again", place / "bare");
  EXPECT_EQ(imported.exit_code, 0) << imported.errors;
  std::filesystem::rename(place / "away", moved);
  expect_refused(exported("more", "--examples 2"), HasSubstr("--data /gone: no such directory"));
  place.write("data/test.en", "Bada.\n");
  place.write("data/test.de", "Dobu.\n");
  const Outcome with_test = exported("more", "--examples 1 --data " + (place / "data"));
  EXPECT_EQ(with_test.exit_code, 0) << with_test.errors;
  EXPECT_TRUE(std::filesystem::exists(place / "more/examples.safetensors"));
}

TEST_F(Translation, SettingsOfAMovedRunAndResumedRunsUseItsPieces) {
  const TemporaryDirectory place;
  const std::string moved = moved_run(place);
  std::filesystem::copy(data(), place / "bare");
  std::filesystem::remove(place / "bare/sentencepiece.model");
  const std::string first = fmt::format("--data {} --warmup 0 --max-updates 1 ", place / "bare");
  const Outcome again = run_ut("train --config {} --run-dir {} {}", moved + "/options.conf", place / "again", first);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(base::read_file(place / "again/options.conf"), HasSubstr(moved + "/sentencepiece.model"));
  std::filesystem::rename(moved, place / "away");
  const Outcome more = run_ut("train --resume --max-updates 2 --run-dir " + (place / "again"));
  EXPECT_EQ(more.exit_code, 0) << more.errors;
  EXPECT_THAT(more.output, AllOf(HasSubstr("--max-updates 2"), Not(HasSubstr("--sentencepiece"))));
}

TEST_F(Translation, IsJudgedByBleuIfDecodedOutputsAreScored) {
  const TemporaryDirectory place;
  const std::string copy = place / "run";
  std::filesystem::copy(run(), copy, std::filesystem::copy_options::recursive);
  const Outcome more =
      run_ut("train --resume --evaluation-scoring decoded --evaluation-limit 25 --max-updates 1001 --run-dir " + copy);
  ASSERT_EQ(more.exit_code, 0) << more.errors;
  const auto state = nlohmann::json::parse(base::read_file(copy + "/checkpoints/update-00001001/state.json"));
  const nlohmann::json best = json_of_ut(
      fmt::format("evaluate --json --split validation --evaluation-limit 25 --checkpoint update-{} --run-dir {}",
                  state.at("best_update").get<int>(), copy));
  EXPECT_GT(best.at("bleu"), 1);
  EXPECT_THAT(more.output, testing::ContainsRegex("update 1001: validation accuracy [^\n]*, BLEU [0-9.]+"));
  EXPECT_NEAR(100 * state.at("best_score").get<double>(), best.at("bleu").get<double>(), 1e-9);
}

TEST(Score, IsPrintedWithAllItsDigits) {
  const TemporaryDirectory files;
  const std::string reference = files.write("reference", "a b c d f\n").string();
  const Outcome scored = run_shell("echo 'a b c d e' | $UT score --json --reference " + reference);
  ASSERT_EQ(scored.exit_code, 0) << scored.errors;
  const auto score = nlohmann::json::parse(scored.output);
  EXPECT_NEAR(score.at("bleu").get<double>(), 100 * std::pow(4. / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25), 1e-9);
  EXPECT_EQ(score.at("bleu_signature"), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(score.at("reference_tokens"), 5);
}

TEST_F(Translation, CommandWithoutPiecesAcceptsSettingsBesideThem) {
  const TemporaryDirectory place;
  std::filesystem::copy(run() + "/sentencepiece.model", place / "sentencepiece.model");
  place.write("options.conf", "iterations = 1\nd-model = 32\nthreads = 1\n");
  const Outcome measured = run_ut("bench --config " + (place / "options.conf"));
  EXPECT_EQ(measured.exit_code, 0) << measured.errors;
}

TEST_F(Translation, AMissingOrOtherModelOfPiecesIsReported) {
  const TemporaryDirectory place;
  const std::string moved = moved_run(place);
  const std::string model = moved + "/sentencepiece.model";
  ASSERT_EQ(run_ut("data sentencepiece --vocabulary-size 90 --data {} --out {}", data(), model).exit_code, 0);
  Outcome decoded = decode("Bada.\n", "--run-dir " + moved);
  expect_refused(decoded, HasSubstr("made with another vocabulary"));
  std::filesystem::remove(model);
  decoded = decode("Bada.\n", "--run-dir " + moved);
  expect_refused(decoded, AllOf(HasSubstr("/gone"), HasSubstr("no such directory")));
}

TEST_F(Translation, NamesTheCommandThatMakesMissingPieces) {
  const TemporaryDirectory place;
  write_toy_parallel_text(place, 100, 10);
  const std::string command = fmt::format("train --task translation --data {} --run-dir {} --max-updates 1 ",
                                          place.path().string(), place / "run");
  expect_refused(run_ut(command), HasSubstr("make it with: ut data sentencepiece --data " + place.path().string()));
  EXPECT_FALSE(std::filesystem::exists(place / "run"));
}

}  // namespace
}  // namespace ut::tests
