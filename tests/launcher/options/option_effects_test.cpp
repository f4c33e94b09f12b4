#include "launcher/options/option_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/launcher/options/given_words.h"

namespace ut::launcher {
namespace {

using ::testing::HasSubstr;

TEST(Options, AreRefusedIfTheyWouldDoNothing) {
  const std::vector<std::pair<Words, Words>> given_and_needed = {
      {{"--max-steps", "9"}, {"--halting", "act"}},
      {{"--balance", "2"}, {"--halting", "act-copy"}},
      {{"--lstm-layers", "3"}, {"--model", "lstm"}},
      {{"--norm", "pre"}, {"--model", "universal"}},
      {{"--batch-window", "9"}, {"--batch-rows", "9"}},
      {{"--weight-decay-of", "matrices"}, {"--weight-decay", "0.1"}},
      {{"--nonfinite-limit", "9"}, {"--on-nonfinite", "skip"}},
      {{"--checkpoint", "best"}, {"--resume"}},
      {{"--keep-every", "30"}, {"--checkpoint-every", "10"}},
      {{"--babi-memory", "9"}, {"--task", "babi", "--data", "there"}},
      {{"--lambada-form", "pointing"}, {"--task", "lambada", "--data", "there"}},
      {{"--lambada-longest", "9"}, {"--task", "lambada", "--data", "there"}},
      {{"--lambada-common", "9"}, {"--lambada-context", "9", "--task", "lambada", "--data", "there"}},
      {{"--lambada-scored", "all-words"}, {"--lambada-form", "language-model", "--task", "lambada", "--data", "there"}},
      {{"--lambada-names", "9"}, {"--lambada-form", "pointing", "--task", "lambada", "--data", "there"}},
      {{"--execute-length", "9"}, {"--task", "execute-copy"}},
      {{"--train-length", "9"}, {"--task", "reverse"}},
      {{"--data", "there"}, {"--task", "agreement"}},
  };
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({}));
  for (const auto& [given, needed] : given_and_needed) {
    Words other = {"--task", "execute-double", "--checkpoint-every", "0", "--on-nonfinite", "stop"};
    if (given.front() == "--norm") other.insert(other.end(), {"--model", "lstm"});
    if (given.front() == "--execute-length") other[1] = "addition";
    other.insert(other.end(), given.begin(), given.end());
    EXPECT_THAT(train_refused(other), HasSubstr(given.front() + ": does nothing here")) << given.front();
    Words both = given;
    both.insert(both.end(), needed.begin(), needed.end());
    if (given.front() == "--checkpoint") both.insert(both.end(), {"--run-dir", scratch / "run"});
    EXPECT_EQ(train_refused(both), "") << given.front();
  }
  EXPECT_EQ(train_refused({"--keep-every", "7"}),
            "--keep-every 7: needs a multiple of --checkpoint-every, which is 500");
  EXPECT_EQ(train_refused({"--keep-every", "0", "--checkpoint-every", "9"}), "");
  EXPECT_EQ(train_refused({"--target-score", "98"}), "--target-score: 98 given, needs a number from 0 to 1");
  EXPECT_THAT(refused("bench", {"--bench-skew", "0.5"}), HasSubstr("--bench-ponder"));
  EXPECT_THAT(train_refused({"--batch", "9", "--batch-rows", "90"}), HasSubstr("--batch: does nothing here"));
  // A value that holds anyway may be given.
  for (const Words& more : {Words{"--halting", "none", "--max-steps", "0"},
                            Words{"--halting", "act-copy", "--max-steps", "9", "--steps", "9"},
                            Words{"--halting", "act-copy", "--max-steps", "9", "--steps", "8"}})
    EXPECT_EQ(train_refused(more), "") << more.back();
  const Words babi = {"--task", "babi", "--data", "there", "--halting", "none"};
  for (const Words& more : {Words{"--decoder-halting", "act"}, Words{"--decoder-steps", "3"}}) {
    Words all = babi;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_THAT(train_refused(all), HasSubstr(more.front() + ": does nothing here, needs a decoder"));
  }
  const Words language_model = {"--task", "lambada", "--lambada-form", "language-model", "--data", "there"};
  const std::vector<std::pair<Words, std::string>> of_no_encoder = {
      {{"--halting", "act", "--decoder-halting", "none"}, "--halting: does nothing here, needs an encoder;"},
      {{"--halting", "act-copy", "--decoder-halting", "act", "--balance", "2"}, "--balance: does nothing here"},
      {{"--halting", "act", "--decoder-halting", "none", "--max-steps", "3"}, "--max-steps: does nothing here"},
      {{"--steps", "3", "--decoder-steps", "1"}, "--steps: does nothing here, needs an encoder;"},
      {{"--halting", "act", "--max-steps", "3"}, ""},
      {{"--steps", "3"}, ""},
      {{"--evaluation-scoring", "decoded"}, "--evaluation-scoring: does nothing here, needs a task with outputs"},
      {{"--evaluation-scoring", "teacher-forced"}, ""},
      {{"--best-by", "bleu"},
       "--best-by: does nothing here, needs --task translation and --evaluation-scoring decoded"},
      {{"--lambada-scored", "all-words"}, ""},
      {{"--patience", "3", "--evaluate-every", "0"}, "--patience: does nothing here, needs --evaluate-every above 0"},
      {{"--lambada-context", "9"}, "--lambada-context: does nothing here, needs another --lambada-form"},
      {{"--halting", "act", "--decoder-halting", "act"}, ""}};
  for (const auto& [more, message] : of_no_encoder) {
    Words all = language_model;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_THAT(train_refused(all),
                message.empty() ? testing::Eq("") : testing::Matcher<std::string>(HasSubstr(message)));
  }
  const tests::TemporaryDirectory other;
  record_run(other, train(language_model));
  const auto refused_for_words = [&](const std::string& command, const Words& more) {
    Words all = {command, "--run-dir", other / "run"};
    all.insert(all.end(), more.begin(), more.end());
    return refused(all);
  };
  EXPECT_EQ(refused_for_words("decode", {"--beam", "4", "--length-penalty", "1", "--decode-extra", "9"}), "");
  EXPECT_THAT(refused_for_words("decode", {"--beam", "4"}), HasSubstr("a language model and --decode-extra"));
  EXPECT_THAT(refused_for_words("evaluate", {"--decode-extra", "9"}), HasSubstr("--decode-extra: does nothing here"));
  const Words evaluate = {"evaluate", "--run-dir", scratch / "run"};
  for (const Words& more : {Words{"--length-penalty", "1"}, Words{"--teacher-forced", "--beam", "4"},
                            Words{"--checkpoint", "best", "--average", "2"}, Words{"--max-steps", "9"}}) {
    Words all = evaluate;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_THAT(refused(all), HasSubstr(more.front() == "--teacher-forced" ? "--beam" : more.front()));
  }
  for (const Words& more :
       {Words{"--stack", "decoder"}, Words{"--stack", "encoder", "--svg", "attention"},
        Words{"--step", "2", "--png", "loss"}, Words{"--layer", "1"}, Words{"--head", "1", "--svg", "ponder-words"}}) {
    Words all = {"report", "runs/one"};
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_THAT(refused(all), HasSubstr(more.front() + ": does nothing here, needs --svg or --png"));
  }
  EXPECT_EQ(refused({"report", "one", "--png", "attention", "--step", "2", "--layer", "1", "--head", "2"}), "");
  EXPECT_EQ(refused({"report", "one", "--svg", "running", "--stack", "decoder"}), "");
  const auto refused_as_useless = [](const std::string& name) { return HasSubstr(name + ": does nothing here"); };
  EXPECT_THAT(train_refused({"--device", "cpu", "--share-gpus"}), refused_as_useless("--share-gpus"));
  EXPECT_EQ(train_refused({"--device", "cuda", "--share-gpus"}), "");
  EXPECT_THAT(refused({"decode", "--run-dir", scratch / "run", "--line-by-line", "--evaluation-batch", "8"}),
              refused_as_useless("--evaluation-batch"));
  for (const Words& more : {Words{"--examples", "2"}, Words{"--first-example", "2"}, Words{"--split", "validation"},
                            Words{"--checkpoint", "latest"}, Words{"--example-rows", "9"}}) {
    Words all = {"report", "one"};
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_EQ(refused(all), "") << more.front();
    all.emplace_back("--no-model");
    EXPECT_THAT(refused(all), refused_as_useless(more.front()));
  }
  for (const Words& more :
       {Words{"--longest-pair", "9"}, Words{"--train-set", "a"}, Words{"--sentencepiece", "pieces.model"}}) {
    Words all = {"data", "check", "there", more[0], more[1]};
    EXPECT_EQ(refused(all), "") << more.front();
    all.insert(all.end(), {"--task", "translation"});
    EXPECT_EQ(refused(all), "") << more.front();
    all.back() = "lambada";
    EXPECT_THAT(refused(all), refused_as_useless(more.front()));
  }
  // A settings file may serve more than one purpose.
  EXPECT_EQ(train_refused({"--config", scratch.write("all.conf", "max-steps = 9\nbabi-memory = 3\n")}), "");
}

TEST(Options, SetsOfASplitThatIsNotScoredAreRefused) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--task", "translation", "--data", "there"}));
  const auto evaluated = [&](const char* split, const char* set) {
    return refused({"evaluate", "--run-dir", scratch / "run", "--split", split, set, "a"});
  };
  EXPECT_THAT(evaluated("validation", "--test-set"), HasSubstr("--test-set: does nothing here, needs --split test"));
  EXPECT_THAT(evaluated("test", "--validation-set"), HasSubstr("needs --split validation"));
  EXPECT_EQ(evaluated("validation", "--validation-set"), "");
  EXPECT_EQ(evaluated("test", "--test-set"), "");
}

TEST(Options, AreRefusedBesideThoseThatReplaceThem) {
  const auto nothing = [](const std::string& name) { return HasSubstr(name + ": does nothing here"); };
  const Words act = {"--halting", "act", "--max-steps", "9"};
  const auto halting = [&](Words more) {
    more.insert(more.begin(), act.begin(), act.end());
    return train_refused(more);
  };
  EXPECT_EQ(halting({"--steps", "6", "--decoder-steps", "5"}), "") << "--max-steps is given beside them";
  EXPECT_EQ(halting({"--steps", "6", "--decoder-halting", "none"}), "");
  EXPECT_EQ(halting({"--decoder-steps", "6", "--decoder-halting", "none"}), "");
  EXPECT_EQ(halting({"--steps", "6", "--decoder-steps", "5", "--max-steps", "0"}), "");

  const tests::TemporaryDirectory scratch;
  const auto both = scratch.write("both.conf", "halting = act\nmax-steps = 9\nsteps = 6\n");
  EXPECT_EQ(train_refused({"--config", both}), "");
  EXPECT_EQ(train({"--config", both, "--steps", "7"}).max_steps, 0);
  EXPECT_THAT(train_refused({"--config", both, "--decoder-steps", "7"}), nothing("--decoder-steps"));

  record_run(scratch, train(act));
  const std::string run = scratch / "run";
  EXPECT_THAT(refused({"evaluate", "--run-dir", run, "--decoder-steps", "8"}), nothing("--decoder-steps"));
  EXPECT_EQ(refused({"evaluate", "--run-dir", run, "--steps", "8", "--decoder-steps", "7"}), "");
  EXPECT_THAT(refused({"export", "--run-dir", run, "--out", "x", "--checkpoint", "best", "--average", "2"}),
              HasSubstr("--checkpoint: given, and --average too"));
  EXPECT_THAT(train_refused({"--dtype", "float64", "--precision", "float32"}),
              HasSubstr("--precision: given, and --dtype too"));
  EXPECT_EQ(train_refused({"--dtype", "float32", "--precision", "bfloat16"}), "");

  for (const Words& given : {Words{"--shards", "zigzag"}, Words{"--exchange-sends", "states"}}) {
    Words planned = given;
    planned.insert(planned.end(), {"--exchange", "auto"});
    EXPECT_THAT(train_refused(planned), nothing(given.front()));
    EXPECT_THAT(refused("bench", planned), nothing(given.front()));
    EXPECT_EQ(train_refused(given), "");
  }
  const auto smoothed = [](const char* form, const char* share) {
    return train_refused({"--task", "lambada", "--data", "x", "--lambada-form", form, "--label-smoothing", share});
  };
  EXPECT_THAT(smoothed("pointing", "0.1"), nothing("--label-smoothing"));
  EXPECT_EQ(smoothed("pointing", "0"), "");
  EXPECT_EQ(smoothed("reading", "0.1"), "");
}

}  // namespace
}  // namespace ut::launcher
