// `ut report`: what the page and the pictures are made of, and the page as a browser shows it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string small = "--d-model 16 --heads 2 --ffn 32 --batch 8 --threads 1 --log-every 2 --evaluate-every 10 ";

/// The document that a page shows.
json document_of(const std::string& page) {
  const std::string text = base::read_file(page);
  const std::string begin = "<script type=\"application/json\" id=\"report\">";
  const auto place = text.find(begin) + begin.size();
  return json::parse(text.substr(place, text.find("</script>", place) - place));
}

bool is_there(const std::string& program) { return run_shell("command -v " + program).exit_code == 0; }

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

class Report : public testing::Test {
 protected:
  /// A run on stories, of which positions halt, and one with a decoder.
  void train_stories(const std::string& name, const std::string& options = "") const {
    const std::string stories = directory_ / "stories";
    ASSERT_EQ(run_ut("data stories --facts 1 --train 200 --validation 20 --test 30 --out " + stories).exit_code, 0);
    const Outcome trained = run_ut(
        fmt::format("train --task babi --data {} {} --halting act-copy --max-steps 4 --halting-bias -0.5 --max-updates "
                    "20 {} --run-dir {}",
                    stories, small, options, directory_ / name));
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }
  void train_reverse(const std::string& name, const std::string& options = "") const {
    const Outcome trained = run_ut(
        fmt::format("train --task reverse --train-length 8 --evaluation-length 8 --train-examples 100 "
                    "--evaluation-examples 20 {} --steps 3 --halting act-copy --decoder-halting none --max-updates 10 "
                    "{} --run-dir {}",
                    small, options, directory_ / name));
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }

  void train_language_model(const std::string& name) const {
    for (const char* file : {"train.txt", "lambada_development_plain_text.txt", "lambada_test_plain_text.txt"})
      directory_.write(file, "the owl saw the cat and the dog\nthe dog saw the cat and the owl\n");
    const Outcome trained = run_ut(
        fmt::format("train --task lambada --lambada-form language-model --data {} {} --halting act-copy --max-steps 3 "
                    "--max-updates 10 --run-dir {}",
                    directory_.path().string(), small, directory_ / name));
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }

  /// A run directory with these metrics, which no program wrote.
  void write_run(const std::string& name, const std::string& metrics,
                 const std::string& options = "d-model = 16\n") const {
    directory_.write(name + "/options.conf", options);
    directory_.write(name + "/metrics.jsonl", metrics);
  }

  std::string write_scaling_table() const {
    return directory_
        .write("scaling.csv",
               "kind,size,ranks,sequence_parallel,exchange,efficiency\nweak-data,256:4,1,1,none,1"
               "\nweak-data,256:4,2,1,none,0.9\n")
        .string();
  }

  json report(const std::string& arguments) const {
    const std::string page = directory_ / "page.html";
    const Outcome outcome = run_ut(fmt::format("report {} --out {}", arguments, page));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    return document_of(page);
  }

  /// One picture, as SVG.
  std::string drawn(const std::string& arguments) const {
    const std::string file = directory_ / "picture.svg";
    const Outcome outcome = run_ut(fmt::format("report {} --out {}", arguments, file));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return base::read_file(file);
  }

  void expect_report_refused(const std::string& arguments, const std::string& says) const {
    expect_refused(run_ut("report " + arguments), HasSubstr(says));
  }

  /// What `script`, an expression at the page's end, gives in a browser. The browser must find no fault with the page.
  json in_browser(const std::string& page, const std::string& script) const {
    std::string text = base::read_file(page);
    text = replaced(text, "<title>",
                    "<script>var problems = []; addEventListener('error', e => problems.push(e.message)); "
                    "addEventListener('securitypolicyviolation', e => problems.push(e.blockedURI)); "
                    "console.error = console.warn = text => problems.push(String(text));</script><title>");
    text = replaced(text, "</body>",
                    "<script>{ let found; try { found = (() => {" + script +
                        "})(); } catch (error) { problems.push(String(error.stack)); } const outcome = "
                        "document.createElement('pre'); outcome.id = 'outcome'; outcome.textContent = "
                        "encodeURIComponent(JSON.stringify({found, problems})); document.body.append(outcome); "
                        "}</script></body>");
    const auto copy = directory_.write("browsed.html", text);
    const Outcome seen = run_shell(
        fmt::format("timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                    "--enable-logging=stderr --user-data-dir={} --window-size=1300,900 --virtual-time-budget=3000 "
                    "--dump-dom file://{}",
                    directory_ / "browser", copy.string()));
    EXPECT_EQ(seen.exit_code, 0) << seen.errors;
    EXPECT_THAT(seen.errors, testing::Not(HasSubstr(":CONSOLE")));
    const std::string begin = "<pre id=\"outcome\">";
    const auto place = seen.output.find(begin);
    if (place == std::string::npos) throw std::runtime_error("the page did not get to its end: " + seen.errors);
    const auto end = seen.output.find("</pre>", place);
    const json outcome = json::parse(decoded(seen.output.substr(place + begin.size(), end - place - begin.size())));
    EXPECT_EQ(outcome.at("problems"), json::array());
    return outcome.value("found", json());
  }

  static std::string decoded(const std::string& text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at)
      if (text[at] == '%') {
        result += static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
        at += 2;
      } else {
        result += text[at];
      }
    return result;
  }

  TemporaryDirectory directory_;
};

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
  EXPECT_EQ(example.at("given"), json({"start", "the", "owl", "saw", "the", "cat", "and", "the"}));
  EXPECT_EQ(example.at("wanted"), json({"", "", "", "", "", "", "", "dog"}));
  for (const std::string picture : {"ponder-words", "attention-decoder"})
    for (const std::string word : {"start", "owl", "cat"})
      EXPECT_THAT(drawn(run + " --svg " + picture),
                  testing::ContainsRegex("text-anchor=\"end\" class=\"word\"[^>]*>" + word + "<"));
}

TEST_F(Report, TornLinesAndLossesThatAreNoNumbers) {
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
  expect_report_refused(run, "no metrics yet");
  directory_.write("run/metrics.jsonl", "");
  expect_report_refused(run, "no whole line");
  directory_.write("run/metrics.jsonl", "{\"update\":1,\"loss\":2}\n");
  expect_report_refused(run, "no checkpoint yet");
  expect_report_refused(run + " --no-model --out /nowhere/at/all.html", "there is no directory");
  expect_report_refused(run + " --no-model --svg attention", "needs the model; leave --no-model out");
  expect_report_refused(run + " --no-model --svg ponder",
                        "no run has recorded positions that halt; needs one of ut train --h");
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

TEST_F(Report, PicturesOfCurvesNeedNoModel) {
  write_run("run", "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n", "task = copy\n");
  const std::string run = directory_ / "run";
  EXPECT_EQ(run_ut("report --svg loss " + run).errors, "");
  EXPECT_TRUE(std::filesystem::exists(run + "/loss.svg"));
  for (const std::string picture : {"attention", "attention-source", "ponder-words"})
    expect_report_refused(run + " --svg " + picture, "no checkpoint yet");
}

TEST_F(Report, PerplexityIsDrawnWhereARunHasIt) {
  write_run("run",
            "{\"update\":1,\"split\":\"validation\",\"perplexity\":7.4}\n"
            "{\"update\":2,\"split\":\"validation\",\"perplexity\":6}\n");
  write_run("other", "{\"update\":1,\"loss\":2.5}\n");
  const std::string picture = drawn((directory_ / "run") + " --svg perplexity");
  EXPECT_THAT(picture, HasSubstr("Perplexity on the validation split"));
  EXPECT_THAT(picture, HasSubstr("class=\"line c0\""));
  expect_report_refused((directory_ / "other") + " --svg perplexity", "needs one of a language model");
}

TEST_F(Report, AnLstmAmongTheRunsIsLeftOutOfTheModelsAtWork) {
  train_reverse("reverse");
  const std::string metrics = "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n";
  write_run("lstm", metrics, "task = reverse\nmodel = lstm\nd-model = 16\n");
  const std::string page = directory_ / "page.html";
  const std::string lstm = directory_ / "lstm";
  const Outcome made = run_ut(fmt::format("report {} {} --out {}", lstm, directory_ / "reverse", page));
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_EQ(made.errors, "ut: " + lstm + ": the model is not shown at work: an LSTM takes no steps\n");
  const json runs = document_of(page).at("runs");
  EXPECT_FALSE(runs.at(0).contains("model"));
  EXPECT_THAT(runs.at(0).at("left_out").get<std::string>(), HasSubstr("an LSTM takes no steps"));
  EXPECT_TRUE(runs.at(1).contains("model"));
  expect_report_refused(lstm + " --svg attention", "an LSTM takes no steps; needs a run of ut train --model universal");
}

TEST_F(Report, DrawsEveryPictureAlone) {
  train_reverse("run");
  const std::string table = write_scaling_table();
  for (const std::string name :
       {"loss", "score", "learning-rate", "gradient-norm", "rows-per-second", "ponder", "ponder-histogram", "running",
        "ponder-words", "attention", "attention-decoder", "attention-source", "scaling"}) {
    SCOPED_TRACE(name);
    const std::string file = directory_ / (name + ".svg");
    const Outcome drawn =
        run_ut(fmt::format("report {} --scaling {} --svg {} --out {}", directory_ / "run", table, name, file));
    ASSERT_EQ(drawn.exit_code, 0) << drawn.errors;
    EXPECT_THAT(base::read_file(file), testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_THAT(base::read_file(file), testing::Not(HasSubstr("NaN")));
    if (is_there("rsvg-convert")) {
      EXPECT_EQ(run_shell("rsvg-convert " + file).exit_code, 0);
    }
  }
}

TEST_F(Report, AttentionOfOneStepLayerOrHead) {
  train_reverse("run", "--block-layers 2");
  const std::string attention = (directory_ / "run") + " --svg attention-decoder ";
  const std::string all = drawn(attention);
  EXPECT_THAT(all, testing::AllOf(HasSubstr(">step 2<"), HasSubstr(">step 3<"), HasSubstr(">head 1<")));
  EXPECT_EQ(drawn(attention + "--layer 1"), all);
  EXPECT_NE(drawn(attention + "--layer 2"), all);
  EXPECT_THAT(drawn(attention + "--step 2"),
              testing::AllOf(HasSubstr(">step 2<"), HasSubstr(">head 1<"), HasSubstr(">head 2<"),
                             testing::Not(HasSubstr(">step 3<"))));
  EXPECT_THAT(drawn(attention + "--head 2"),
              testing::AllOf(HasSubstr(">step 2<"), HasSubstr(">step 3<"), HasSubstr(">head 2<"),
                             testing::Not(HasSubstr(">head 1<"))));
  const std::string one_map = drawn(attention + "--step 3 --head 2");
  EXPECT_THAT(one_map, testing::AllOf(HasSubstr("attention, step 3"), HasSubstr(">says next ↓<")));
  EXPECT_NE(drawn(attention + "--step 3 --head 1"), one_map);
  expect_report_refused(attention + "--step 4", "--step 4: not there, needs one of 1, 2, 3");
  expect_report_refused(attention + "--layer 3", "--layer 3: not there, needs one of 1, 2");
  expect_report_refused(attention + "--head 3", "--head 3: not there, needs one of 1, 2");
}

TEST_F(Report, SaysWhereMapsLeaveNoRoomForWords) {
  train_reverse("run", "--evaluation-length 300");
  const std::string command = "report --example-rows 300 --svg attention " + (directory_ / "run");
  const std::string words = "class=\"word\"";
  const Outcome all = run_ut(command);
  EXPECT_THAT(all.errors, HasSubstr("attention.svg: so many maps leave no room for words; --step or --head draws"));
  EXPECT_THAT(base::read_file(directory_ / "run/attention.svg"), testing::Not(HasSubstr(words)));
  const Outcome one = run_ut(command + " --step 1 --head 1");
  EXPECT_EQ(one.errors, "");
  EXPECT_THAT(base::read_file(directory_ / "run/attention.svg"), HasSubstr(words));
}

TEST_F(Report, PonderTimesOfOneStack) {
  train_reverse("both", "--decoder-halting act-copy");
  train_reverse("one");
  write_run("recorded",
            "{\"update\":1,\"ponder\":{\"encoder\":{\"mean\":1,\"sd\":0,\"histogram\":[4],\"running\":[1]},"
            "\"decoder\":{\"mean\":2,\"sd\":0,\"histogram\":[0,4],\"running\":[1,1]}}}\n");
  const std::string words = (directory_ / "both") + " --svg ponder-words";
  const std::string histogram = (directory_ / "recorded") + " --svg ponder-histogram";
  const std::string running = (directory_ / "recorded") + " --svg running";
  for (const std::string& picture : {words, histogram, running}) {
    SCOPED_TRACE(picture);
    EXPECT_EQ(drawn(picture + " --stack encoder"), drawn(picture));
    EXPECT_NE(drawn(picture + " --stack decoder"), drawn(picture));
  }
  for (const std::string picture : {"ponder-words", "running"})
    expect_report_refused((directory_ / "one") + " --stack decoder --svg " + picture,
                          "--stack decoder: not there, needs one of encoder");
}

TEST_F(Report, APictureIsOfTheExampleThatIsAskedFor) {
  train_reverse("run");
  const std::string command = fmt::format("report {} --svg attention --first-example ", directory_ / "run");
  EXPECT_EQ(run_ut(command + "7").output, (directory_ / "run/attention.svg") + ": attention of example 7\n");
  expect_refused(run_ut(command + "20"), HasSubstr("--first-example 20: the split has 20 examples, numbered from 0"));
}

TEST_F(Report, ScalingOfOneKindMayBeOfSeveralCurves) {
  const std::string table =
      directory_
          .write("scaling.csv",
                 "kind,size,ranks,exchange,efficiency,curve\nweak-data,256:4,1,none,1,\"weak-data 256:4, 2 × 40\""
                 "\nweak-data,256:4,1,none,1,\"weak-data 256:4, 2 × 80\"\n")
          .string();
  const std::string file = directory_ / "scaling.svg";
  const Outcome drawn = run_ut(fmt::format("report --scaling {} --svg scaling --out {}", table, file));
  ASSERT_EQ(drawn.exit_code, 0) << drawn.errors;
  for (const char* curve : {"weak-data 256:4, 2 × 40", "weak-data 256:4, 2 × 80"})
    EXPECT_THAT(base::read_file(file), HasSubstr(curve));
}

TEST_F(Report, APictureAsPngOrWhatItTakes) {
  write_run("run", "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n");
  const std::string command = fmt::format("report {} --no-model --png loss", directory_ / "run");
  const Outcome without = run_shell(fmt::format("PATH=/nowhere {} {}", std::getenv("UT"), command));
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_EQ(without.errors, "ut: --png: needs the program rsvg-convert (Debian's librsvg2-bin); or take --svg\n");
  if (!is_there("rsvg-convert")) GTEST_SKIP() << "no rsvg-convert here (Debian's librsvg2-bin)";
  ASSERT_EQ(run_ut(command).exit_code, 0);
  EXPECT_THAT(base::read_file(directory_ / "run/loss.png"), testing::StartsWith("\x89PNG"));
}

/// For tests that open the page.
class ReportInBrowser : public Report {
 protected:
  void SetUp() override {
    if (!is_there("chromium")) GTEST_SKIP() << "no chromium here";
  }
};

const std::string page_helpers = R"(
  const plot = name => document.querySelector(`[data-picture=${name}]`);
  const count = (name, what) => plot(name) ? plot(name).querySelectorAll(what).length : 0;
  const move = (id, value) => { const slider = document.getElementById(id); slider.value = value; slider.dispatchEvent(new Event('input')); };
  const point = (target, x, y) => target.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, bubbles: true}));
  const tip = () => document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent;
  const changes = (name, act) => { const before = plot(name).innerHTML; act(); return plot(name).innerHTML !== before; };
)";

TEST_F(ReportInBrowser, WhatEvaluateFoundIsThere) {
  train_reverse("evaluated");
  write_run("bare", "{\"update\":1,\"loss\":1}\n");
  for (const char* how : {"--split validation --beam 3", "--teacher-forced", "--teacher-forced", "--checkpoint latest",
                          "--evaluation-length 5"})
    ASSERT_EQ(run_ut(fmt::format("evaluate --run-dir {} {}", directory_ / "evaluated", how)).exit_code, 0);
  write_run("tasks", "{\"update\":1,\"loss\":1}\n");
  directory_.write(
      "tasks/evaluations.jsonl",
      R"({"split":"test","updates":[9],"encoder_steps":3,"accuracy":0.5,"sequences":8,"groups":{"task 1":{"accuracy":1,)"
      R"("sequences":3,"ponder":{"encoder":{"mean":2.25,"sd":0.5}}},"task 2":{"accuracy":0.2,"sequences":5}}})"
      "\n");
  const std::string page = directory_ / "page.html";
  const Outcome made = run_ut(fmt::format("report --no-model {} {} {} --out {}", directory_ / "bare",
                                          directory_ / "evaluated", directory_ / "tasks", page));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const json tables = in_browser(page, page_helpers + R"(
    return [...document.querySelectorAll('#evaluations table')].map(
      table => [...table.querySelectorAll('tr')].map(row => row.textContent));)");
  ASSERT_EQ(tables.size(), 2U);
  const json& rows = tables[0];
  const json& groups = tables[1];
  ASSERT_EQ(rows.size(), 6U) << "the same twice is once there";
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].get<std::string>(), "runsplitof updatesstepsgroupexamplesaccuracyponder time");
  EXPECT_EQ(groups[1].get<std::string>(), "taskstest93task 13100 %2.25 ± 0.5 encoder");
  EXPECT_EQ(groups[2].get<std::string>(), "taskstest93task 2520 %");
  EXPECT_THAT(rows[0].get<std::string>(),
              HasSubstr("runsplitof updatesstepssymbolsother than the runexamplesaccuracywhole sequences"));
  EXPECT_THAT(rows[1].get<std::string>(), HasSubstr("evaluatedtest103decoded greedily20"));
  EXPECT_THAT(rows[3].get<std::string>(), HasSubstr("evaluatedtest103after the right ones20"));
  EXPECT_THAT(rows[2].get<std::string>(), HasSubstr("evaluatedtest103decoded greedilyevaluation-length 520"));
  EXPECT_THAT(rows[4].get<std::string>(), HasSubstr("evaluatedvalidation103beam 3, length penalty 0.620"));
}

TEST_F(ReportInBrowser, EverythingIsDrawnMovesAndTellsItsValues) {
  train_stories("one");
  train_stories("two", "--seed 2 --learning-rate 0.002");
  train_reverse("three");
  const std::string page = directory_ / "page.html";
  const std::string table = write_scaling_table();
  const Outcome made = run_ut(fmt::format("report {} {} {} --scaling {} --out {}", directory_ / "one",
                                          directory_ / "two", directory_ / "three", table, page));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const json found = in_browser(page, page_helpers + R"(
    const result = {};
    result.shapes = {};
    for (const name of ['loss', 'score', 'learning-rate', 'gradient-norm', 'rows-per-second', 'ponder', 'scaling'])
      result.shapes[name] = count(name, 'path.line');
    for (const name of ['ponder-histogram', 'running', 'ponder-words']) result.shapes[name] = count(name, 'rect.bar');
    result.cells = count('attention', 'rect.cell');
    result.steps = Number(document.getElementById('step').max);
    result.step_moves = changes('attention', () => move('step', 2));
    result.said = document.getElementById('step').parentElement.textContent;
    result.head_changes = changes('attention', () => document.querySelectorAll('.heads button')[1].click());
    result.smoothing = changes('loss', () => move('smooth', 0.8)) && count('loss', 'path.raw') === 3;
    result.log = changes('loss', () => plot('loss').parentElement.querySelector('button').click());
    result.ponder_moves = changes('ponder-histogram', () => move('ponder-update', 0));

    const box = plot('loss').getBoundingClientRect();
    point(plot('loss'), box.left + box.width / 2, box.top + 100);
    result.curve_tip = tip();
    point(plot('running').querySelector('.catch'), 5, 5);
    result.bar_tip = tip();
    document.querySelectorAll('.heads button')[0].click();
    const spec = plot('attention').spec;
    const map = plot('attention').firstElementChild.getBoundingClientRect();
    const row = spec.ran[0];
    point(plot('attention'), map.left + spec.frame.left + 1.5 * spec.frame.size, map.top + spec.frame.top + (row + 0.5) * spec.frame.size);
    result.map_tip = tip();
    result.map_weight = (spec.weights[0][1] / 10000).toFixed(4);

    document.querySelector('#runs button').click();
    result.after_hiding = count('loss', 'path.line:not(.raw)');
    const ground = () => getComputedStyle(document.body).backgroundColor;
    const before = ground();
    document.getElementById('theme').click();
    result.theme = before !== ground();
    const pick = document.getElementById('model-of');
    pick.value = 2;
    pick.dispatchEvent(new Event('change'));
    result.maps = [...plot('attention').closest('.card').querySelectorAll('.head button')].map(button => {
      button.click();
      return [button.textContent, count('attention', 'rect.cell') > 0];
    });
    result.different = document.querySelector('#settings table').textContent;
    result.captions = ['loss', 'score', 'ponder'].map(name => plot(name).textContent.includes('Dashed: '));
    result.heads = document.querySelector('#summary tr').textContent;
    return result;
  )");
  for (const auto& [name, shapes] : found.at("shapes").items()) EXPECT_GT(shapes.get<int>(), 1) << name;
  EXPECT_GT(found.at("cells").get<int>(), 20);
  EXPECT_GE(found.at("steps").get<int>(), 2);
  for (const char* what : {"step_moves", "head_changes", "smoothing", "log", "ponder_moves", "theme"})
    EXPECT_EQ(found.at(what), true) << what;
  EXPECT_THAT(found.at("said").get<std::string>(), testing::StartsWith("step 2 of "));
  EXPECT_THAT(found.at("curve_tip").get<std::string>(), testing::AllOf(HasSubstr("update "), HasSubstr("smoothed")));
  EXPECT_EQ(found.at("bar_tip"), "step 1: 100 % run");
  EXPECT_THAT(found.at("map_tip").get<std::string>(), testing::StartsWith(found.at("map_weight").get<std::string>()));
  EXPECT_LT(found.at("after_hiding").get<int>(), found.at("shapes").at("loss").get<int>());
  EXPECT_EQ(found.at("maps"), json::parse(R"([["encoder over itself",true],["decoder over itself",true],
                                              ["decoder over the source",true]])"));
  EXPECT_THAT(found.at("different").get<std::string>(),
              testing::AllOf(HasSubstr("learning-rate"), HasSubstr("seed"), testing::Not(HasSubstr("d-model"))));
  EXPECT_EQ(found.at("captions"), json({true, true, false}));
  EXPECT_THAT(found.at("heads").get<std::string>(), HasSubstr("test: symbols\nafter the right ones"));
}

TEST_F(ReportInBrowser, ALanguageModelHasItsWords) {
  train_language_model("run");
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut(fmt::format("report {} --out {}", directory_ / "run", page)).exit_code, 0);
  const json found = in_browser(page, page_helpers + R"(
    return {read: document.querySelector('.given').textContent, queries: plot('attention').spec.queries,
            perplexity: count('perplexity', 'path.line')};
  )");
  EXPECT_EQ(found.at("read"), "the owl saw the cat and the");
  EXPECT_EQ(found.at("perplexity"), 1);
  EXPECT_EQ(found.at("queries"), json({"start", "the", "owl", "saw", "the", "cat", "and", "the"}));
}

TEST_F(ReportInBrowser, ScalingNeedsNoRun) {
  const std::string page = directory_ / "page.html";
  const Outcome made = run_ut(fmt::format("report --scaling {} --out {}", write_scaling_table(), page));
  EXPECT_THAT(made.output, testing::StartsWith(page + ": scaling, "));
  EXPECT_EQ(in_browser(page, page_helpers + "return count('scaling', 'path.line');"), 2);
}

TEST_F(ReportInBrowser, RunsAreComparedByTheWorkAndTimeThatTheyTake) {
  const std::string sizes =
      R"({"update":0,"parameters":51520,"flops_per_update":[1e9,4e9],"flops_per_step":{"encoder":1e9,"decoder":0}})"
      "\n";
  const auto line = [](int update, double hours) {
    return fmt::format(R"({{"update":{},"loss":1,"hours":{},"ponder":{{"encoder":{{"mean":2.5,"sd":1}}}}}})"
                       "\n",
                       update, hours);
  };
  write_run("slow", sizes + line(10, 0.5) + line(20, 1), "halting = act\n");
  write_run("fast", sizes + line(10, 0.005) + line(20, 0.01), "halting = act-copy\n");
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(
      run_ut(fmt::format("report --no-model {} {} --out {}", directory_ / "slow", directory_ / "fast", page)).exit_code,
      0);
  const json found = in_browser(page, page_helpers + R"(
    const last = () => plot('loss').spec.series.map(series => series.points[series.points.length - 1][0]);
    const updates = last();
    document.querySelectorAll('#over button')[1].click();
    return {updates, hours: last(), axis: plot('loss').spec.x, ponder: plot('ponder').spec.x,
            rows: [...document.querySelectorAll('#summary tr')].map(row => row.textContent)};
  )");
  EXPECT_EQ(found.at("updates"), json({20, 20}));
  EXPECT_EQ(found.at("hours"), json({1, 0.01}));
  EXPECT_EQ(found.at("axis"), "hours");
  EXPECT_EQ(found.at("ponder"), "hours");
  EXPECT_EQ(found.at("rows"), json({"runhaltingparametersan updateupdateslast lossponder timetime",
                                    "slowact51.52k1 GFLOP to 4 GFLOP2012.5 encoder1 h",
                                    "fastact-copy51.52k2.5 GFLOP2012.5 encoder36 s"}));
}

TEST_F(ReportInBrowser, TheNinthRunHasAnotherMarkThanTheFirst) {
  std::string runs;
  for (int run = 1; run <= 9; ++run) {
    write_run(fmt::format("run-{}", run),
              fmt::format("{{\"update\":1,\"loss\":{0}}}\n{{\"update\":2,\"loss\":1}}\n", run));
    runs += directory_ / fmt::format("run-{} ", run);
  }
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut(fmt::format("report --no-model {} --out {}", runs, page)).exit_code, 0);
  const json found = in_browser(page, page_helpers + R"(
    const marks = [...document.querySelectorAll('#runs .mark')].map(mark => mark.getAttribute('d'));
    const drawn = [...plot('loss').querySelectorAll('.mark')].map(mark => mark.getAttribute('d'));
    return {same: marks[1] === marks[0], another: marks[8] !== marks[0], drawn: drawn.includes(marks[8]),
            heads: document.querySelector('#summary tr').textContent};
  )");
  EXPECT_EQ(found, json({{"same", true}, {"another", true}, {"drawn", true}, {"heads", "runupdateslast loss"}}));
}

TEST_F(ReportInBrowser, TextOfFilesIsOnlyText) {
  const std::string evil = "</script><script>window.evil = 1</script><img src=x onerror=\"window.evil=1\"> & <!--";
  write_run("a<b>&c", "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n", "task = " + evil + "\n");
  const std::string table =
      directory_.write("scaling.csv", "kind,size,ranks,exchange,efficiency\n<img src=x onerror=evil()>,<b>,1,none,1\n")
          .string();
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(
      run_ut(fmt::format("report '{}' --no-model --scaling {} --out {}", directory_ / "a<b>&c", table, page)).exit_code,
      0);
  const json found = in_browser(page, R"(
    return {evil: window.evil === undefined, name: document.querySelector('h1').textContent,
            value: document.querySelector('#settings code').textContent, images: document.images.length,
            bold: document.querySelectorAll('.picture b').length};
  )");
  EXPECT_EQ(found, json({{"evil", true}, {"name", "a<b>&c"}, {"value", evil}, {"images", 0}, {"bold", 0}}));
}

}  // namespace
}  // namespace ut::tests
