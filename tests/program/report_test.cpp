// `ut report`: the content of the page.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/program/reported_runs.h"

namespace ut::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(Report, ShowsAModelAtWorkAsEvaluateScoresIt) {
  train_stories("run");
  const std::string run = directory_ / "run";
  const json model = report(run + " --examples 30 --split test").at("runs").at(0).at("model");
  const json evaluated = json_of_ut("evaluate --json --run-dir " + run);
  double right = 0;
  double steps = 0;
  double rows = 0;
  for (const json& example : model.at("examples")) {
    right += example.at("said") == example.at("wanted") ? 1 : 0;
    for (const json& updates : example.at("stacks").at("encoder").at("updates")) steps += updates.get<double>();
    rows += static_cast<double>(example.at("source").size());
  }
  ASSERT_EQ(model.at("examples").size(), 30);
  EXPECT_DOUBLE_EQ(right / 30, evaluated.at("accuracy").get<double>());
  EXPECT_NEAR(steps / rows, evaluated.at("ponder").at("encoder").at("mean").get<double>(), 1e-9);
}

TEST_F(Report, MapsHaveTheRowsThatRunAndWeightsThatSumToOne) {
  train_stories("stories");
  train_reverse("reverse");
  const json found = report(fmt::format("{} {}", directory_ / "stories", directory_ / "reverse"));
  EXPECT_EQ(found.at("runs").at(0).at("model").at("examples").at(0).at("maps").size(), 1);
  EXPECT_EQ(found.at("runs").at(1).at("model").at("examples").at(0).at("maps").size(), 3);
  for (const json& run : found.at("runs"))
    for (const json& example : run.at("model").at("examples"))
      for (const auto& [name, steps] : example.at("maps").items())
        for (const json& seen : steps) {
          std::size_t run_on = 0;
          for (const json& updates : example.at("stacks").at(name == "encoder" ? "encoder" : "decoder").at("updates"))
            run_on += updates.get<int>() >= seen.at("step").get<int>() ? 1 : 0;
          EXPECT_EQ(seen.at("queries").size(), run_on);
          for (const json& head : seen.at("weights")) {
            ASSERT_EQ(head.size(), run_on);
            for (const json& query : head) {
              ASSERT_EQ(query.size(), example.at(name == "decoder" ? "given" : "source").size());
              double sum = 0;
              for (const json& weight : query) sum += weight.get<double>();
              EXPECT_NEAR(sum, 10000, 20);
            }
          }
        }
}

TEST_F(Report, ALanguageModelsRowsAreNamedByTheWordsThatTheyRead) {
  train_language_model("run");
  const std::string run = directory_ / "run";
  const json example = report(run).at("runs").at(0).at("model").at("examples").at(0);
  EXPECT_EQ(example.at("given"), json({"<start>", "the", "owl", "saw", "the", "cat", "and", "the"}));
  EXPECT_EQ(example.at("wanted"), json({"", "", "", "", "", "", "", "dog"}));
  for (const std::string picture : {"ponder-words", "attention-decoder"})
    for (const std::string word : {"&lt;start&gt;", "owl", "cat"})
      EXPECT_THAT(drawn(run + " --svg " + picture),
                  testing::ContainsRegex("text-anchor=\"end\" class=\"word\"[^>]*>" + word + "<"));
}

TEST_F(Report, TornLinesAndNonFiniteLossesAreCounted) {
  write_run("run",
            "{\"update\":1,\"loss\":2.5}\nnot json\n{\"update\":2,\"loss\":null}\n{\"update\":3,\"loss\":NaN}\n"
            "{\"update\":4,\"loss\":1.5}\n{\"update\":4,\"split\":\"test\",\"accuracy\":0.5}\n{\"update\":5,\"lo");
  const json run = report((directory_ / "run") + " --no-model").at("runs").at(0);
  EXPECT_EQ(run.at("curves").at("training").at("loss"), json::parse("[[1,2.5],[2,null],[4,1.5]]"));
  EXPECT_EQ(run.at("unreadable"), 2);
  EXPECT_EQ(run.at("not_finite"), json({{"lines", 1}, {"first", 2}}));
  EXPECT_EQ(run.at("scores").at("test").at("accuracy"), 0.5);
  EXPECT_EQ(run.at("thinned"), false);
}

TEST_F(Report, ScoresOfOtherExamplesAreKeptApart) {
  train_reverse("run", "--evaluate-every 5");
  const std::string run = directory_ / "run";
  const auto do_now = [&run](const std::string& command) {
    const Outcome outcome = run_ut("{} --run-dir {}", command, run);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  };
  do_now("evaluate --checkpoint latest");
  do_now("train --resume --evaluation-length 3");
  do_now("evaluate --checkpoint latest");
  const json shown = report(run + " --no-model").at("runs").at(0);
  EXPECT_EQ(shown.at("evaluations").size(), 2) << shown.at("evaluations");
  for (const std::string score : {"accuracy", "validation_loss"}) {
    const json& points = shown.at("curves").at("validation").at(score);
    EXPECT_EQ(points.back().at(0), 10) << points;
    EXPECT_EQ(points.size(), 1) << points;
  }
}

TEST_F(Report, SettingsAreAsTheyWereGiven) {
  write_run("run", "{\"update\":1,\"loss\":2}\n", "# Task\ntask = babi  # mine\ndata = \"/a b/#1 \\\"x\\\"\"\n");
  const std::string run = directory_ / "run";
  EXPECT_EQ(report(run + " --no-model").at("runs").at(0).at("settings"),
            json({{"task", "babi"}, {"data", "/a b/#1 \"x\""}}));
  directory_.write("run/options.conf", "task\n");
  expect_report_refused(run + " --no-model", "options.conf line 1: \"task\" is not of the form name = value");
}

TEST_F(Report, LongCurvesAreThinnedOutAndKeepTheirSpikes) {
  std::string metrics;
  for (int update = 1; update <= 30000; ++update)
    metrics += fmt::format("{{\"update\":{},\"rows_per_s\":{},\"loss\":{}}}\n", update, update % 10 < 7 ? 100 : update,
                           update % 3000 == 7 ? "null"
                           : update == 12345  ? "99.5"
                           : update == 23456  ? "-7"
                                              : fmt::format("{}", 1 + update % 7));
  write_run("run", metrics);
  const json run = report((directory_ / "run") + " --no-model").at("runs").at(0);
  const json& points = run.at("curves").at("training").at("loss");
  EXPECT_LE(points.size(), 2000);
  EXPECT_GT(points.size(), 1000);
  EXPECT_EQ(run.at("thinned"), true);
  EXPECT_EQ(run.at("rows_per_s"), 100) << "the median of all, not of those that are drawn";
  EXPECT_EQ(run.at("not_finite"), json({{"lines", 10}, {"first", 7}}));
  EXPECT_EQ(points.front().at(0), 1);
  EXPECT_EQ(points.back().at(0), 30000);
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, [](const json& point) { return point.at(0).get<int>(); }));
  EXPECT_NE(std::ranges::find(points, json{12345, 99.5}), points.end());
  EXPECT_NE(std::ranges::find(points, json{23456, -7}), points.end());
}

TEST_F(Report, SaysInOneLineWhatIsMissing) {
  const std::string run = directory_ / "run";
  expect_report_refused("", "no run directory given");
  expect_report_refused(run, "there is no run (no options.conf)");
  directory_.write("run/options.conf", "task = copy\n");
  const std::string nothing =
      "nothing to report, the run has no metrics (no whole line in metrics.jsonl), no evaluation";
  expect_report_refused(run, nothing);
  directory_.write("run/metrics.jsonl", "");
  expect_report_refused(run, nothing);
  directory_.write("run/metrics.jsonl", "{\"update\":1,\"loss\":2}\n");
  EXPECT_EQ(run_ut("report " + run).errors,
            "ut: " + run + ": the run has no checkpoint yet; --no-model leaves the model at work out\n");
  expect_report_refused(run + " --no-model --out /nowhere/at/all.html", "there is no directory");
  expect_report_refused(run + " --no-model --svg attention", "needs the model; leave --no-model out");
  expect_report_refused(run + " --no-model --svg ponder",
                        "no run has recorded positions that halt; needs a run of ut train --h");
  expect_report_refused(run + " --no-model --svg scaling", "needs --scaling FILE");
  expect_report_refused(run + " --no-model --svg loss --out " + directory_ / "loss.png",
                        "needs another ending, or --png");
  expect_report_refused(run + " --no-model --svg nonsense", "needs one of loss, score");
  expect_report_refused(
      fmt::format("{} --no-model --scaling {}", run, directory_.write("table.csv", "a,b\n1,2\n").string()),
      "has no column kind");
  EXPECT_FALSE(std::filesystem::exists(run + "/report.html"));
  EXPECT_EQ(run_ut("report --no-model " + run).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(run + "/report.html"));
}

TEST_F(Report, AnImportedRunHasNoCurves) {
  train_reverse("trained");
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut("export --run-dir {} --out {}", directory_ / "trained", directory_ / "model").exit_code, 0);
  ASSERT_EQ(run_ut("import --from {} --run-dir {}", directory_ / "model", run).exit_code, 0);
  const json imported = report(run).at("runs").at(0);
  EXPECT_TRUE(imported.contains("model"));
  EXPECT_EQ(imported.at("curves"), json::parse(R"({"training":{},"validation":{}})"));
  for (const std::string picture : {"attention", "ponder-words"}) EXPECT_NE(drawn(run + " --svg " + picture), "");
  expect_report_refused(run + " --svg loss", "no run has recorded it; needs a run whose metrics.jsonl has it");
}

TEST_F(Report, EvaluationsAloneAreEnough) {
  directory_.write("run/options.conf", "task = copy\n");
  directory_.write("run/evaluations.jsonl",
                   "{\"encoder_steps\":2,\"accuracy\":0}\n{\"encoder_steps\":4,\"accuracy\":1}\n");
  const std::string run = directory_ / "run";
  EXPECT_EQ(report(run + " --no-model").at("runs").at(0).at("evaluations").size(), 2);
  EXPECT_THAT(drawn(run + " --svg steps"), HasSubstr("class=\"line c0\""));
}

TEST_F(Report, ARunThatCannotBeWrittenToIsBadInput) {
  write_run("run", "{\"update\":1,\"loss\":2}\n");
  const std::string run = directory_ / "run";
  const std::string read_only =
      fmt::format("unshare --mount sh -c 'mount --bind {0} {0} && mount -o remount,bind,ro {0} && ", run);
  if (run_shell(read_only + "true'").exit_code != 0) GTEST_SKIP() << "nothing can be mounted here";
  const Outcome refused = run_shell(read_only + "$UT report --no-model " + run + "'");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.errors, "ut: " + run + ": cannot be written to: Read-only file system; needs --out, a file in " +
                                "another directory\n");
  EXPECT_EQ(run_shell(read_only + "$UT report --no-model --out " + directory_ / "page.html" + " " + run + "'").errors,
            "");
}

TEST_F(Report, AnLstmAmongTheRunsIsLeftOutOfTheModelsAtWork) {
  train_reverse("reverse");
  const std::string metrics = "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n";
  write_run("lstm", metrics, "task = reverse\nmodel = lstm\nd-model = 16\n");
  const std::string page = directory_ / "page.html";
  const std::string lstm = directory_ / "lstm";
  const Outcome made = run_ut("report {} {} --out {}", lstm, directory_ / "reverse", page);
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_EQ(made.errors, "ut: " + lstm + ": the model is not shown at work: an LSTM takes no steps\n");
  const json runs = document_of(page).at("runs");
  EXPECT_FALSE(runs.at(0).contains("model"));
  EXPECT_THAT(runs.at(0).at("left_out").get<std::string>(), HasSubstr("an LSTM takes no steps"));
  EXPECT_TRUE(runs.at(1).contains("model"));
  expect_report_refused(lstm + " --svg attention", "an LSTM takes no steps; needs another run");
}

TEST_F(Report, AModelWhoseOutputsAreNotFiniteIsLeftOut) {
  const std::string run = directory_ / "run";
  const Outcome diverged = run_ut(
      "train --task copy --train-length 8 --evaluation-length 8 --learning-rate 1e15 --norm pre --max-updates 10 {} "
      "--run-dir {}",
      small, run);
  ASSERT_THAT(diverged.errors, HasSubstr("the validation loss is not finite"));
  const Outcome made = run_ut("report {}", run);
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_EQ(made.errors, "ut: " + run + ": the model is not shown at work: its outputs are not finite\n");
  expect_report_refused(run + " --svg attention", "its outputs are not finite; needs another run");
}

TEST_F(Report, RunsOfTheSameNameAreToldApartByTheirFolders) {
  for (const std::string run : {"a/seed-1/run", "a/seed-2/run", "other"})
    write_run(run, "{\"update\":1,\"loss\":2.5}\n");
  const auto names = [this](const std::string& given) {
    std::vector<std::string> found;
    const json shown = report("--no-model " + given);
    for (const json& run : shown.at("runs")) found.push_back(run.at("name"));
    return found;
  };
  const std::string first = directory_ / "a/seed-1/run ";
  const std::string second = directory_ / "a/seed-2/run/ ";
  EXPECT_THAT(names(first + second), testing::ElementsAre("seed-1/run", "seed-2/run"));
  EXPECT_THAT(names(first + second + (directory_ / "other")),
              testing::ElementsAre("a/seed-1/run", "a/seed-2/run", "other"));
}

TEST_F(Report, EvaluationsKeepTheOrderInWhichTheyWereMade) {
  write_run("run", "{\"update\":1,\"loss\":2.5}\n");
  std::string lines;
  for (const int steps : {2, 16, 4, 2}) lines += fmt::format("{{\"accuracy\":0.5,\"encoder_steps\":{}}}\n", steps);
  directory_.write("run/evaluations.jsonl", lines);
  std::vector<int> found;
  const json shown = report("--no-model " + (directory_ / "run"));
  for (const json& evaluation : shown.at("runs").at(0).at("evaluations"))
    found.push_back(evaluation.at("encoder_steps"));
  EXPECT_THAT(found, testing::ElementsAre(2, 16, 4));
}

}  // namespace
}  // namespace ut::tests
