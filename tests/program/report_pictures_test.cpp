// `ut report --svg`: a single picture.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/program/reported_runs.h"

namespace ut::tests {
namespace {

using testing::HasSubstr;

class ReportPicture : public Report {};

TEST_F(ReportPicture, PicturesOfCurvesNeedNoModel) {
  write_run("run", "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n", "task = copy\n");
  const std::string run = directory_ / "run";
  EXPECT_EQ(run_ut("report --svg loss " + run).errors, "");
  EXPECT_TRUE(std::filesystem::exists(run + "/loss.svg"));
  for (const std::string picture : {"attention", "attention-source", "ponder-words"})
    expect_report_refused(run + " --svg " + picture, "no checkpoint yet");
}

TEST_F(ReportPicture, DrawsScoresOfSomeTasksIfARunHasThem) {
  write_run("other", "{\"update\":1,\"loss\":2.5}\n");
  for (const auto& [name, title, needed] :
       {std::tuple("perplexity", "Perplexity on the validation split", "needs a run of a language model"),
        std::tuple("bleu", "BLEU on the validation split", "--task translation --evaluation-scoring decoded")}) {
    write_run("run", fmt::format("{{\"update\":1,\"split\":\"validation\",\"{0}\":7.4}}\n"
                                 "{{\"update\":2,\"split\":\"validation\",\"{0}\":16}}\n",
                                 name));
    const std::string of_this = fmt::format(" --svg {}", name);
    const std::string picture = drawn((directory_ / "run") + of_this);
    EXPECT_THAT(picture, HasSubstr(title));
    EXPECT_THAT(picture, HasSubstr("class=\"line c0\""));
    expect_report_refused((directory_ / "other") + of_this, needed);
  }
}

TEST_F(ReportPicture, ScoresAreDrawnOverTheStepsOfEvaluations) {
  write_run("run", "{\"update\":1,\"loss\":2.5}\n", "steps = 4\n");
  const std::string of_steps = (directory_ / "run") + " --svg steps";
  expect_report_refused(of_steps, "needs ut evaluate --steps N twice");
  const auto evaluated = [](int steps, double accuracy, const std::string& split) {
    return fmt::format(
        "{{\"split\":\"{}\",\"accuracy\":{},\"sequence_accuracy\":0,\"encoder_steps\":{},\"scoring\":"
        "\"decoded\"}}\n",
        split, accuracy, steps);
  };
  directory_.write("run/evaluations.jsonl", evaluated(4, 0.5, "test") + evaluated(4, 0.25, "validation"));
  expect_report_refused(of_steps, "needs ut evaluate --steps N twice");
  directory_.write("run/evaluations.jsonl", evaluated(8, 1, "test") + evaluated(4, 0.25, "validation") +
                                                evaluated(4, 0.5, "test") + evaluated(2, 0, "test"));
  const std::string picture = drawn(of_steps);
  EXPECT_THAT(picture, testing::AllOf(HasSubstr(">in training</text>"), HasSubstr(">run, whole sequences</text>"),
                                      HasSubstr(">2</text>"), HasSubstr(">4</text>"), HasSubstr(">8</text>")));
  // Ordered by steps: from the lower left (58, 340), accuracy 0, through the middle to the upper right.
  EXPECT_THAT(picture, testing::ContainsRegex("d=\"M58\\.0 340\\.0L247\\.[0-9] [0-9.]+L626\\.0 [0-9.]+\""));
}

TEST_F(ReportPicture, CurvesOverStepsSayInWhatRunsWereScoredDifferently) {
  std::string both;
  for (const auto& [run, scoring] : {std::pair("one", "decoded"), {"other", "teacher-forced"}}) {
    write_run(run, "{\"update\":1,\"loss\":2.5}\n", "steps = 4\n");
    std::string lines;
    for (const int steps : {2, 4})
      lines += fmt::format(
          "{{\"split\":\"test\",\"updates\":[{}],\"accuracy\":0.5,\"encoder_steps\":{},\"scoring\":\"{}\"}}\n",
          std::string(run) == "one" ? 5 : 7, steps, scoring);
    directory_.write(fmt::format("{}/evaluations.jsonl", run), lines);
    both += (directory_ / run) + " ";
  }
  EXPECT_THAT(drawn(both + "--svg steps"),
              testing::AllOf(HasSubstr(">one, decoded</text>"), HasSubstr(">other, teacher-forced</text>")));
}

TEST_F(ReportPicture, AxesHaveNumbersThatDiffer) {
  const auto loss = [this](double first, double second) {
    write_run("run", fmt::format("{{\"update\":1,\"loss\":{}}}\n{{\"update\":2,\"loss\":{}}}\n", first, second));
    return drawn((directory_ / "run") + " --svg loss");
  };
  EXPECT_THAT(loss(3.4776, 3.4784), testing::AllOf(HasSubstr(">3.4776<"), HasSubstr(">3.4778<"), HasSubstr(">3.478<")));
  EXPECT_THAT(loss(2.8873024408257244, 2.8873024408257253), HasSubstr(">2.8<")) << "the same, but for rounding";
}

TEST_F(ReportPicture, AValueBetweenNonFiniteOnesIsADot) {
  write_run("run",
            "{\"update\":1,\"loss\":null}\n{\"update\":2,\"loss\":2}\n{\"update\":3,\"loss\":null}\n"
            "{\"update\":4,\"loss\":3}\n{\"update\":5,\"loss\":2}\n");
  EXPECT_THAT(drawn((directory_ / "run") + " --svg loss"),
              testing::ContainsRegex("d=\"M[0-9.]+ [0-9.]+h0M[0-9.]+ [0-9.]+L[0-9.]+ [0-9.]+\""));
}

TEST_F(ReportPicture, LongNamesKeepTheirEnds) {
  const std::string folder(90, 'w');
  for (const std::string seed : {"seed-1", "seed-2"}) write_run(folder + seed + "/run", "{\"update\":1,\"loss\":2}\n");
  const std::string picture =
      drawn((directory_ / folder) + "seed-1/run " + (directory_ / folder) + "seed-2/run --svg loss");
  EXPECT_THAT(picture, testing::ContainsRegex(">…w+seed-1/run</text>"));
  EXPECT_THAT(picture, testing::ContainsRegex(">…w+seed-2/run</text>"));
}

class ReportOfSteps : public Report {
 protected:
  /// Makes up a run, trained with 6 and 4 steps, with evaluations that have these further keys.
  void write_evaluations(const std::vector<std::string>& evaluations) const {
    write_run("run", "{\"update\":1,\"loss\":2.5}\n", "steps = 6\ndecoder-steps = 4\n");
    std::string lines;
    for (const std::string& evaluation : evaluations) lines += "{\"accuracy\":0.5," + evaluation + "}\n";
    directory_.write("run/evaluations.jsonl", lines);
  }
  static std::string with_steps(int encoder, int decoder) {
    return fmt::format(R"("encoder_steps":{},"decoder_steps":{})", encoder, decoder);
  }
  static int count(const std::string& text, const std::string& what) {
    int found = 0;
    for (auto place = text.find(what); place != std::string::npos; place = text.find(what, place + 1)) ++found;
    return found;
  }

  std::string of_steps_ = (directory_ / "run") + " --svg steps";
};

TEST_F(ReportOfSteps, EvaluationsWithUnevenStepsAreOnNoCurveOfEvenOnes) {
  write_evaluations({with_steps(6, 6), with_steps(3, 6)});
  expect_report_refused(of_steps_, "no evaluations of a run make a curve; needs ut evaluate --steps N twice");
  write_evaluations({with_steps(3, 3), with_steps(6, 6), with_steps(8, 6)});
  const std::string picture = drawn(of_steps_);
  EXPECT_EQ(count(picture, "class=\"mark "), 2);
  EXPECT_THAT(picture, HasSubstr(">run</text>"));
}

TEST_F(ReportOfSteps, StepsOfOneStackAreACurveWhoseLegendHasThoseOfTheOther) {
  write_evaluations({with_steps(6, 6), with_steps(6, 5), with_steps(6, 4)});
  const std::string picture = drawn(of_steps_);
  EXPECT_EQ(count(picture, "class=\"line "), 2) << "a curve and its legend";
  EXPECT_EQ(count(picture, "class=\"mark "), 3);
  EXPECT_THAT(picture, HasSubstr(">run, encoder steps 6</text>"));
  EXPECT_THAT(picture, testing::ContainsRegex("x=\"63\\.0\"[^>]*>in training</text>")) << "4 steps, at the left border";
  EXPECT_EQ(count(picture, ">in training</text>"), 1);
}

TEST_F(ReportOfSteps, LegendsTellHowCurvesOfARunDiffer) {
  std::vector<std::string> evaluations;
  for (const std::string way :
       {R"("updates":[10],"beam":4,"length_penalty":0.6)", R"("updates":[10],"beam":4,"length_penalty":1)",
        R"("updates":[10],"decode_extra":9)", R"("updates":[10],"evaluation_limit":5)", R"("updates":[20,10])",
        R"("updates":[10],"examples_digest":"0123456789abcdef")"})
    for (const int steps : {2, 4}) evaluations.push_back(with_steps(steps, steps) + R"(,"split":"test",)" + way);
  write_evaluations(evaluations);
  const std::string picture = drawn(of_steps_);
  for (const std::string name :
       {"update 10, beam 4, length penalty 0.6", "update 10, beam 4, length penalty 1", "update 10, decode-extra 9",
        "update 10, evaluation-limit 5", "mean of updates 20, 10", "update 10, examples 012345"})
    EXPECT_THAT(picture, HasSubstr(">run, " + name + "</text>"));
  EXPECT_THAT(picture, testing::ContainsRegex("class=\"mark f0\"[^>]*d=\"M-1-1h2v2h-2z\"")) << "another mark";
}

TEST_F(ReportPicture, DrawsEveryPictureAlone) {
  train_reverse("run");
  for (const int steps : {2, 3})
    EXPECT_EQ(run_ut("evaluate --run-dir {} --steps {}", directory_ / "run", steps).exit_code, 0);
  const std::string table = write_scaling_table();
  for (const std::string name :
       {"loss", "score", "learning-rate", "gradient-norm", "rows-per-second", "ponder", "ponder-histogram", "running",
        "ponder-words", "attention", "attention-decoder", "attention-source", "steps", "scaling"}) {
    SCOPED_TRACE(name);
    const std::string file = directory_ / (name + ".svg");
    const Outcome drawn = run_ut("report {} --scaling {} --svg {} --out {}", directory_ / "run", table, name, file);
    ASSERT_EQ(drawn.exit_code, 0) << drawn.errors;
    EXPECT_THAT(base::read_file(file), testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_THAT(base::read_file(file), testing::Not(HasSubstr("NaN")));
    if (is_there("rsvg-convert")) {
      EXPECT_EQ(run_shell("rsvg-convert " + file).exit_code, 0);
    }
  }
}

TEST_F(ReportPicture, DrawsAttentionOfOneStepLayerOrHead) {
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

TEST_F(ReportPicture, SaysThatMapsLeaveNoRoomForWords) {
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

TEST_F(ReportPicture, DrawsPonderTimesOfOneStack) {
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

TEST_F(ReportPicture, DrawsTheRequestedExample) {
  train_reverse("run");
  const std::string command = fmt::format("report {} --svg attention --first-example ", directory_ / "run");
  EXPECT_EQ(run_ut(command + "7").output, (directory_ / "run/attention.svg") + ": attention of example 7\n");
  expect_refused(run_ut(command + "20"), HasSubstr("--first-example 20: the split has 20 examples, numbered from 0"));
}

TEST_F(ReportPicture, DrawsSeveralScalingCurvesOfOneKind) {
  const std::string table =
      directory_
          .write("scaling.csv",
                 "kind,size,ranks,exchange,efficiency,curve\nweak-data,256:4,1,none,1,\"weak-data 256:4, 2 × 40\""
                 "\nweak-data,256:4,1,none,1,\"weak-data 256:4, 2 × 80\"\n")
          .string();
  const std::string file = directory_ / "scaling.svg";
  const Outcome drawn = run_ut("report --scaling {} --svg scaling --out {}", table, file);
  ASSERT_EQ(drawn.exit_code, 0) << drawn.errors;
  for (const char* curve : {"weak-data 256:4, 2 × 40", "weak-data 256:4, 2 × 80"})
    EXPECT_THAT(base::read_file(file), HasSubstr(curve));
}

TEST_F(ReportPicture, TwiceAsManyRanksAreAsFarApartEverywhere) {
  std::string rows = "kind,size,ranks,exchange,efficiency\n";
  for (int ranks = 1; ranks <= 64; ranks *= 2) rows += fmt::format("weak-data,256:4,{},none,1\n", ranks);
  const std::string picture = drawn("--svg scaling --scaling " + directory_.write("scaling.csv", rows).string());
  // Six times the same way from the lower left (58, 340) to the upper right (626, 26).
  EXPECT_THAT(picture, testing::ContainsRegex("d=\"M58\\.0 340\\.0L152\\.7 287\\.7L247\\.3 235\\.3L"));
}

TEST_F(ReportPicture, MakesAPngOrSaysWhatThatNeeds) {
  write_run("run", "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n");
  const std::string command = fmt::format("report {} --no-model --png loss", directory_ / "run");
  const Outcome without = run_shell("PATH=/nowhere {} {}", std::getenv("UT"), command);
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_EQ(without.errors, "ut: --png: needs the program rsvg-convert (Debian's librsvg2-bin); or take --svg\n");
  if (!is_there("rsvg-convert")) GTEST_SKIP() << "no rsvg-convert here (Debian's librsvg2-bin)";
  ASSERT_EQ(run_ut(command).exit_code, 0);
  EXPECT_THAT(base::read_file(directory_ / "run/loss.png"), testing::StartsWith("\x89PNG"));
}

TEST_F(ReportPicture, TwoProcessesDoNotMakeOnePng) {
  write_run("run", "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n");
  const std::string command = fmt::format("$UT report {} --no-model --png loss", directory_ / "run");
  // Instead of the program that draws; the first time, another report begins meanwhile.
  directory_.write("rsvg-convert", fmt::format("#!/bin/sh\n[ -e {0} ] || {{ >{0}; {1}; }}; echo drawn >$5\n",
                                               directory_ / "began", command));
  const Outcome outcome =
      run_shell("cd {0}; chmod +x rsvg-convert; PATH={0}:$PATH; {1}", directory_.path().string(), command);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("loss.png: another process is making it"));
  EXPECT_EQ(base::read_file(directory_ / "run/loss.png"), "drawn\n");
}

}  // namespace
}  // namespace ut::tests
