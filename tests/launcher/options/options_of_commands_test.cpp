#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launcher/options/given_words.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Bench, NeedsNothingAndHasItsOwnBatch) {
  const Options defaults = parse_options({"bench"});
  EXPECT_EQ(defaults.command, "bench");
  EXPECT_EQ(defaults.bench.iterations, 10);
  EXPECT_TRUE(defaults.task.task.empty());
  const Options options = parse_options({"bench",
                                         "--variant",
                                         "tensor2tensor",
                                         "--batch",
                                         "3",
                                         "--length",
                                         "9",
                                         "--min-length",
                                         "4",
                                         "--vocab",
                                         "7",
                                         "--encoder-only",
                                         "--halting",
                                         "act-copy",
                                         "--max-steps",
                                         "12",
                                         "--bench-ponder",
                                         "2.5",
                                         "--iterations",
                                         "1",
                                         "--json"});
  EXPECT_EQ(options.model.norm, core::Norm::pre);
  EXPECT_EQ(options.batch, 3);
  EXPECT_EQ(options.bench.length, 9);
  EXPECT_EQ(options.bench.min_length, 4);
  EXPECT_EQ(options.bench.vocabulary, 7);
  EXPECT_TRUE(options.bench.encoder_only);
  EXPECT_EQ(options.bench.ponder, 2.5);
  EXPECT_EQ(options.bench.iterations, 1);
  EXPECT_TRUE(options.json);
}

TEST(Bench, WhatDoesNotFitTogetherIsRefused) {
  const auto bench_refused = [](const Words& words) { return refused("bench", words); };
  EXPECT_THAT(bench_refused({"--heads", "3"}), HasSubstr("--heads: is 3"));
  EXPECT_THAT(bench_refused({"--greedy", "--encoder-only"}), HasSubstr("--greedy"));
  EXPECT_THAT(bench_refused({"--decoder-only", "--encoder-only"}), HasSubstr("one of the two"));
  EXPECT_THAT(bench_refused({"--min-length", "41"}), AllOf(HasSubstr("--min-length: 41"), HasSubstr("--length")));
  EXPECT_THAT(bench_refused({"--bench-ponder", "3"}), AllOf(HasSubstr("--bench-ponder: 3"), HasSubstr("--halting")));
  EXPECT_THAT(bench_refused({"--halting", "act", "--bench-ponder", "0.5"}), HasSubstr("from 1"));
  EXPECT_THAT(bench_refused({"--halting", "act", "--max-steps", "6", "--bench-ponder", "7"}), HasSubstr("the 6 steps"));
  EXPECT_THAT(bench_refused({"--halting", "act", "--bench-ponder", "2", "--bench-skew", "0.5", "--min-length", "3"}),
              HasSubstr("--bench-skew: not with --min-length"));
  EXPECT_THAT(bench_refused({"--halting", "act", "--decoder-steps", "2", "--bench-ponder", "3"}),
              HasSubstr("the 2 steps"));
  const Words decoder_alone = {"--decoder-halting", "act", "--bench-ponder", "3"};
  EXPECT_EQ(bench_refused(decoder_alone), "");
  Words without_decoder = decoder_alone;
  without_decoder.emplace_back("--encoder-only");
  EXPECT_THAT(bench_refused(without_decoder), HasSubstr("no position halts"));
  EXPECT_THAT(bench_refused({"--decoder-only", "--halting", "act", "--decoder-halting", "none", "--bench-ponder", "2"}),
              HasSubstr("no position halts"));
  EXPECT_THAT(bench_refused({"--task", "copy"}), HasSubstr("--task: unknown option"));
}

TEST(Plan, TakesWhatBenchTakesAndAMachine) {
  const Options defaults = parse_options({"plan"});
  EXPECT_EQ(defaults.command, "plan");
  EXPECT_EQ(defaults.plan.nodes, 0);
  const Options options = parse_options({"plan", "--nodes", "128", "--gpus-per-node", "8", "--machine", "h200",
                                         "--batch", "512", "--length", "99", "--halting", "act-copy", "--bench-ponder",
                                         "2.5", "--save-calibration", "numbers", "--json"});
  EXPECT_EQ(options.plan.nodes, 128);
  EXPECT_EQ(options.plan.gpus_per_node, 8);
  EXPECT_EQ(options.plan.machine, "h200");
  EXPECT_EQ(options.plan.save_calibration, "numbers");
  EXPECT_EQ(options.batch, 512);
  EXPECT_EQ(options.bench.length, 99);
  EXPECT_EQ(options.bench.ponder, 2.5);
  EXPECT_TRUE(options.json);
}

TEST(Plan, ImpossibleSettingsAreRefused) {
  const auto plan_refused = [](const Words& words) { return refused("plan", words); };
  EXPECT_THAT(plan_refused({"--machine", "abacus"}), AllOf(HasSubstr("--machine: \"abacus\""), HasSubstr("h200")));
  EXPECT_THAT(plan_refused({"--machine", "h200", "--calibration", "x"}), HasSubstr("--calibration"));
  EXPECT_THAT(plan_refused({"--machine", "h200", "--hostfile", "x"}), HasSubstr("--hostfile: does nothing here"));
  EXPECT_THAT(plan_refused({"--calibration", "x", "--hostfile", "x"}), HasSubstr("--hostfile: does nothing here"));
  EXPECT_EQ(plan_refused({"--hostfile", "x"}), "");
  EXPECT_THAT(plan_refused({"--nodes", "0"}), HasSubstr("--nodes: \"0\""));
  EXPECT_THAT(plan_refused({"--ranks", "12", "--gpus-per-node", "8"}), HasSubstr("--gpus-per-node: 8"));
  EXPECT_THAT(plan_refused({"--ranks", "12", "--nodes", "2", "--gpus-per-node", "8"}), HasSubstr("--ranks: 12"));
  EXPECT_EQ(plan_refused({"--ranks", "16", "--nodes", "2", "--gpus-per-node", "8"}), "");
  EXPECT_EQ(plan_refused({"--ranks", "5", "--nodes", "2"}),
            "--ranks: 5 given, needs a multiple of --nodes, which is 2");
  EXPECT_EQ(plan_refused({"--ranks", "4", "--nodes", "2"}), "");
  EXPECT_THAT(plan_refused({"--ranks", "12", "--machine", "h200"}), HasSubstr("--ranks: 12 given, needs at most 8"));
  for (const std::string fitting : {"6", "16"})
    EXPECT_EQ(plan_refused({"--ranks", fitting, "--machine", "h200"}), "") << fitting;
  EXPECT_EQ(plan_refused({"--ranks", "12", "--machine", "h200", "--gpus-per-node", "6"}), "");
  EXPECT_THAT(plan_refused({"--heads", "3"}), HasSubstr("--heads: is 3"));
  EXPECT_THAT(plan_refused({"--sequence-parallel", "2"}), HasSubstr("--sequence-parallel: unknown option"));
}

TEST(Doctor, NeedsNoRunInTheRunDirectory) {
  const Options options = parse_options({"doctor", "--ranks", "2", "--run-dir", "nowhere"});
  EXPECT_EQ(options.command, "doctor");
  EXPECT_EQ(options.ranks, 2);
  EXPECT_EQ(options.run_dir, "nowhere");
  EXPECT_EQ(parse_options({"doctor"}).run_dir, "");
  EXPECT_THAT(refused({"doctor", "--task", "copy"}), HasSubstr("--task: unknown option"));
}

TEST(Data, StoriesTakeTheirOptions) {
  const Options options = parse_options({"data", "stories", "--facts", "2", "--train", "500", "--out", "x"});
  EXPECT_EQ(options.command, "data stories");
  EXPECT_EQ(options.data.facts, 2);
  EXPECT_EQ(options.data.train, 500);
  EXPECT_THAT(refused({"data"}), HasSubstr("stories, sentencepiece, check, fetch"));
  EXPECT_THAT(refused({"data", "tales"}), HasSubstr("\"data tales\""));
  EXPECT_THAT(refused({"data", "stories"}), HasSubstr("--out: not given"));
  EXPECT_THAT(refused({"data", "stories", "--facts", "4", "--out", "x"}), HasSubstr("1 to 3"));
}

TEST(Data, DirectoryOrNameMayComeFirst) {
  EXPECT_EQ(parse_options({"data", "check", "/there", "--task", "babi"}).task.data, "/there");
  EXPECT_EQ(parse_options({"data", "check", "--data", "/there"}).task.data, "/there");
  EXPECT_EQ(parse_options({"data", "fetch", "babi", "--from", "x"}).data.name, "babi");
  EXPECT_THAT(refused({"data", "check"}), HasSubstr("--data: not given"));
  EXPECT_THAT(refused({"data", "fetch"}), HasSubstr("--name: not given, needs a data set: babi"));
  EXPECT_THAT(refused({"data", "fetch", "babi", "lambada"}), HasSubstr("\"lambada\": not expected"));
  EXPECT_THAT(refused({"data", "check", "/there", "--task", "copy"}), HasSubstr("babi"));
}

TEST(Data, SetsAreListsOfNames) {
  const Options options = parse_options({"data", "sentencepiece", "--data", "x", "--train-set", "a,b.c"});
  EXPECT_EQ(options.task.train_sets, (std::vector<std::string>{"a", "b.c"}));
  EXPECT_EQ(options.data.pieces.vocabulary_size, 8000);
  EXPECT_THAT(refused({"data", "sentencepiece", "--data", "x", "--train-set", "a,,b"}), HasSubstr("--train-set"));
  EXPECT_THAT(refused({"data", "sentencepiece"}), HasSubstr("--data: not given"));
}

TEST(Score, TakesOneReferenceOrSeveral) {
  const Options options = parse_options({"score", "--reference", "a", "--tokenize", "intl", "--reference", "b"});
  EXPECT_EQ(options.score.references, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.score.bleu.tokens, datasets::BleuTokens::international);
  EXPECT_FALSE(options.score.bleu.lower_cased);
  EXPECT_THAT(refused({"score"}), HasSubstr("--reference: not given"));
  EXPECT_THAT(refused({"score", "--tokenize", "14"}), HasSubstr("13a, intl, none, tokenised-split"));
}

TEST(Import, TakesAllDropoutRatesAtOnce) {
  const tests::TemporaryDirectory scratch;
  scratch.write("model/config.json",
                R"({"options": {"task": "copy", "residual-dropout": 0.1, "attention-dropout": 0.1}})");
  const Options options = parse_options(
      {"import", "--from", scratch / "model", "--run-dir", "nowhere", "--dropout", "0.2", "--input-dropout", "0"});
  EXPECT_EQ(options.model.residual_dropout, 0.2);
  EXPECT_EQ(options.model.attention_dropout, 0.2);
  EXPECT_EQ(options.model.input_dropout, 0);
}

}  // namespace
}  // namespace ut::launcher
