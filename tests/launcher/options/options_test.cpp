#include "launcher/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <sstream>

#include "datasets/published.h"
#include "launcher/options/option_help.h"
#include "launcher/options/option_record.h"
#include "launcher/options/option_sources.h"
#include "launcher/options/option_table.h"
#include "tests/bad_input.h"
#include "tests/temporary_directory.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

Options train(Words words) {
  Words all = {"train", "--task", "copy", "--run-dir", "nowhere"};
  all.insert(all.end(), words.begin(), words.end());
  return parse_options(all);
}

std::string refused(const Words& words) {
  return tests::bad_input([&] { parse_options(words); });
}

std::string refused(const std::string& command, Words words) {
  words.insert(words.begin(), command);
  return refused(words);
}

std::string train_refused(const Words& words) {
  return tests::bad_input([&] { train(words); });
}

/// A run directory with what `ut train` writes down for these options.
void record_run(const tests::TemporaryDirectory& scratch, Options options) {
  options.ranks = 2;
  scratch.write(std::string("run/") + config_name, to_config(options));
}

TEST(Options, DefaultsArePapersVariant) {
  const Options options = train({});
  EXPECT_EQ(options.command, "train");
  EXPECT_EQ(options.variant, Variant::paper);
  EXPECT_EQ(options.model.norm, core::Norm::post);
  EXPECT_EQ(options.ranks, 0);
  EXPECT_EQ(options.batch, 64);
}

TEST(Options, VariantSetsTheFourChoicesAndEachOptionWins) {
  const Options whole = train({"--variant", "tensor2tensor"});
  EXPECT_EQ(whole.model.norm, core::Norm::pre);
  EXPECT_EQ(whole.model.residual, core::Residual::signal_in);
  EXPECT_EQ(whole.model.signal, core::Signal::halves);
  EXPECT_EQ(whole.model.step_signal, core::StepSignal::learned);
  const Options but_norm = train({"--norm", "post", "--variant=tensor2tensor"});
  EXPECT_EQ(but_norm.model.norm, core::Norm::post);
  EXPECT_EQ(but_norm.model.signal, core::Signal::halves);
}

TEST(Options, DropoutAndStepsSetSeveralWhateverTheOrder) {
  const Options options =
      train({"--attention-dropout", "0", "--dropout", "0.25", "--decoder-steps", "2", "--steps", "6"});
  EXPECT_EQ(options.model.residual_dropout, 0.25);
  EXPECT_EQ(options.model.attention_dropout, 0);
  EXPECT_EQ(options.model.transition_dropout, 0.25);
  EXPECT_EQ(options.model.input_dropout, 0.25);
  EXPECT_EQ(options.model.encoder_steps, 6);
  EXPECT_EQ(options.model.decoder_steps, 2);
  EXPECT_EQ(train({"--steps", "7"}).model.decoder_steps, 7);
}

TEST(Options, ScheduleBringsItsLearningRate) {
  const auto factor = train({"--schedule", "inverse-square-root"}).optimizer.schedule;
  EXPECT_EQ(factor.learning_rate, 2.0);
  EXPECT_EQ(factor.warmup, 8000);
  EXPECT_EQ(train({"--learning-rate", "3", "--schedule", "inverse-square-root"}).optimizer.schedule.learning_rate, 3.0);
  EXPECT_EQ(train({"--schedule", "cosine"}).optimizer.schedule.learning_rate, 1e-3);
}

TEST(Options, CommandLineComesBeforeConfigComesBeforeDefaults) {
  const tests::TemporaryDirectory scratch;
  const auto file = scratch.write("my.conf", "# mine\n\nheads = 8   # trailing\n batch=32\nvariant = tensor2tensor\n");
  const Options options = train({"--batch", "16", "--config", file});
  EXPECT_EQ(options.model.heads, 8);
  EXPECT_EQ(options.batch, 16);
  EXPECT_EQ(options.model.norm, core::Norm::pre);
  EXPECT_EQ(options.model.ffn, Options().model.ffn);
  EXPECT_EQ(train({"--config", file, "--variant", "paper"}).model.norm, core::Norm::post);
}

TEST(Options, ConfigErrorsNameFileAndLine) {
  const tests::TemporaryDirectory scratch;
  const auto unknown = scratch.write("unknown.conf", "heads = 4\nhaeds = 4\n");
  EXPECT_THAT(train_refused({"--config", unknown}),
              AllOf(HasSubstr(unknown.string() + " line 2"), HasSubstr("mean heads?")));
  const auto value = scratch.write("value.conf", "heads = many\n");
  EXPECT_THAT(train_refused({"--config", value}), AllOf(HasSubstr(value.string() + " line 1"), HasSubstr("\"many\"")));
  const auto form = scratch.write("form.conf", "heads 4\n");
  EXPECT_THAT(train_refused({"--config", form}), HasSubstr("name = value"));
  const auto quotes = scratch.write("quotes.conf", "data = \"a\" b\n");
  EXPECT_THAT(train_refused({"--config", quotes}), HasSubstr("quotes"));
  const auto open = scratch.write("open.conf", "data = \"a\n");
  EXPECT_THAT(train_refused({"--config", open}), HasSubstr("quotes"));
  EXPECT_THAT(train_refused({"--config", scratch / "none"}),
              HasSubstr("--config " + (scratch / "none") + ": no such file, needs a file of lines name = value"));
  EXPECT_THAT(train_refused({"--config", ""}), HasSubstr("--config"));
  const auto another = scratch.write("another.conf", "config = value.conf\n");
  EXPECT_EQ(train_refused({"--config", another}),
            another.string() +
                " line 1: config: a settings file cannot name another; leave it out, and give both files "
                "to --config");
  const auto help = scratch.write("help.conf", "help = true\n");
  EXPECT_THAT(train_refused({"--config", help}), HasSubstr("help: is for the command line alone"));
}

TEST(Options, AFileSetsAnOptionOnce) {
  const tests::TemporaryDirectory scratch;
  const auto twice = scratch.write("twice.conf", "d-model = 32\nheads = 2\nd-model = 16\n");
  EXPECT_EQ(train_refused({"--config", twice}),
            twice.string() + " line 3: d-model: is set in line 1 already; leave one of the two out");
  const auto several = scratch.write("several.conf", "reference = a\nreference = b\n");
  EXPECT_EQ(parse_options({"score", "--config", several}).score.references, (Words{"a", "b"}));
  const auto other = scratch.write("other.conf", "d-model = 64\n");
  const auto first = scratch.write("first.conf", "d-model = 32\n");
  EXPECT_EQ(train({"--config", first, "--config", other}).model.d_model, 64);
}

TEST(Options, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_THAT(train_refused({"--d-modle", "64"}), AllOf(HasSubstr("--d-modle:"), HasSubstr("mean --d-model?")));
  EXPECT_THAT(train_refused({"--d-modle=64"}), AllOf(HasSubstr("--d-modle:"), HasSubstr("mean --d-model?")));
  EXPECT_THAT(train_refused({"--batc", "64"}), HasSubstr("mean --batch?"));
  EXPECT_THAT(train_refused({"--xyzzyxyzzy"}), Not(HasSubstr("mean")));
  EXPECT_THAT(refused({"trian"}), HasSubstr("did you mean train?"));
  EXPECT_THAT(refused({}), HasSubstr("ut --help"));
  EXPECT_THAT(train_refused({"stray"}), HasSubstr("\"stray\""));
}

TEST(Options, WrongValuesAreRefusedByName) {
  const std::vector<Words> wrong = {{"--heads", "0"},         {"--heads", "x"},
                                    {"--heads", "4x"},        {"--heads", ""},
                                    {"--d-model", "-4"},      {"--dropout", "1"},
                                    {"--dropout", "-0.1"},    {"--dropout", "nan"},
                                    {"--norm", "sideways"},   {"--batch", "0"},
                                    {"--accumulate", "0"},    {"--max-updates", "0"},
                                    {"--learning-rate", "0"}, {"--epsilon", "0"},
                                    {"--beta2", "1"},         {"--clip-norm", "-1"},
                                    {"--max-hours", "inf"},   {"--seed", "-1"},
                                    {"--dtype", "float16"},   {"--task", "nosuch"},
                                    {"--babi-task", "21"},    {"--sequence-parallel", "0"},
                                    {"--ranks", "0"},         {"--train-length", "0"},
                                    {"--data", ""},           {"--seed", "99999999999999999999"},
                                    {"--hostfile", ""},       {"--timeout", "9"},
                                    {"--stop-signals", ""},   {"--stop-signals", "TERM,KILL"}};
  for (const auto& words : wrong)
    EXPECT_THAT(train_refused(words), AllOf(HasSubstr(words[0] + ": \"" + words[1] + "\""), HasSubstr("needs ")));
}

TEST(Options, NumbersTooLargeAreRefusedWithTheBound) {
  EXPECT_EQ(train_refused({"--learning-rate", "inf"}),
            "--learning-rate: \"inf\" given, needs a number above 0, at most 1e15");
  EXPECT_THAT(train_refused({"--max-hours", "1e999"}), HasSubstr("needs a number from 0 to 1e15"));
  EXPECT_THAT(train_refused({"--weight-decay", "1e16"}), HasSubstr("needs a number from 0 to 1e15"));
  EXPECT_THAT(train_refused({"--halting-bias", "nan"}), HasSubstr("needs a number from -1e15 to 1e15"));
  EXPECT_EQ(train_refused({"--seed", "18446744073709551616"}),
            "--seed: \"18446744073709551616\" given, needs a whole number of at least 0 and at most "
            "18446744073709551615");
  EXPECT_THAT(train_refused({"--log-every", "9223372036854775808"}), HasSubstr("at most 9223372036854775807"));
  EXPECT_EQ(train_refused({"--seed", "x"}), "--seed: \"x\" given, needs a whole number of at least 0");
}

TEST(Options, HeadsAndLayersAreAsManyAsDropoutTellsApart) {
  EXPECT_EQ(train({"--d-model", "512", "--heads", "256"}).model.heads, 256);
  EXPECT_EQ(train({"--block-layers", "256"}).model.block_layers, 256);
  EXPECT_THAT(train_refused({"--d-model", "514", "--heads", "257"}), HasSubstr("--heads: \"257\" given, needs "));
  EXPECT_THAT(train_refused({"--block-layers", "257"}), HasSubstr("--block-layers: \"257\" given, needs "));
}

TEST(Options, DeviceAndCommunicatorAreChosenByName) {
  EXPECT_EQ(train({}).device, DeviceChoice::automatic);
  EXPECT_EQ(train({}).communicator, CommunicatorChoice::automatic);
  EXPECT_FALSE(train({}).share_gpus);
  const Options options = train({"--device", "cuda", "--communicator", "nccl", "--share-gpus", "--timeout", "30"});
  EXPECT_EQ(options.device, DeviceChoice::cuda);
  EXPECT_EQ(options.communicator, CommunicatorChoice::nccl);
  EXPECT_TRUE(options.share_gpus);
  EXPECT_EQ(options.timeout, 30);
  EXPECT_EQ(train({"--device", "cpu", "--communicator", "mpi"}).communicator, CommunicatorChoice::mpi);
  EXPECT_THAT(train_refused({"--device", "gpu"}), HasSubstr("--device: \"gpu\" given, needs one of auto, cpu, cuda"));
  EXPECT_THAT(train_refused({"--communicator", "tcp"}), HasSubstr("needs one of auto, mpi, nccl"));
  EXPECT_THAT(train_refused({"--timeout", "9"}), HasSubstr("--timeout: \"9\""));
}

TEST(Options, WhereARunWasTrainedSaysNothingAboutWhereItIsUsed) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--device", "cuda", "--communicator", "nccl", "--share-gpus"}));
  const std::string directory = scratch / "run";
  const Options resumed = parse_options({"train", "--run-dir", directory, "--resume"});
  EXPECT_EQ(resumed.device, DeviceChoice::cuda);
  EXPECT_TRUE(resumed.share_gpus);
  EXPECT_EQ(parse_options({"train", "--run-dir", directory, "--resume", "--device", "cpu"}).device, DeviceChoice::cpu);
  const Options evaluated = parse_options({"evaluate", "--run-dir", directory});
  EXPECT_EQ(evaluated.device, DeviceChoice::automatic);
  EXPECT_EQ(evaluated.communicator, CommunicatorChoice::automatic);
  EXPECT_FALSE(evaluated.share_gpus);
}

TEST(Options, SignalsThatStopAreNamed) {
  EXPECT_EQ(train({}).stop_signals, (std::vector<int>{SIGTERM, SIGUSR1, SIGINT}));
  EXPECT_EQ(train({"--stop-signals", "USR2,XCPU"}).stop_signals, (std::vector<int>{SIGUSR2, SIGXCPU}));
  EXPECT_THAT(to_config(train({"--stop-signals", "USR2,XCPU"})), HasSubstr("stop-signals = USR2,XCPU\n"));
}

TEST(Options, MissingAndSurplusValuesAreRefused) {
  EXPECT_THAT(train_refused({"--heads"}), HasSubstr("--heads: no value given"));
  EXPECT_THAT(train_refused({"--heads", "--ffn", "8"}), HasSubstr("--heads: no value given"));
  EXPECT_THAT(train_refused({"--quiet=1"}), HasSubstr("--quiet: takes no value"));
}

TEST(Options, WhatDoesNotFitTogetherIsRefused) {
  EXPECT_THAT(train_refused({"--heads", "3"}), AllOf(HasSubstr("--heads: is 3"), HasSubstr("--d-model, which is 128")));
  EXPECT_THAT(train_refused({"--d-model", "33", "--heads", "3"}), HasSubstr("--d-model: 33"));
  EXPECT_THAT(train_refused({"--task", "babi"}), HasSubstr("--data: not given"));
  EXPECT_THAT(train_refused({"--schedule", "cosine", "--max-updates", "100"}), HasSubstr("--warmup: 300"));
  EXPECT_THAT(refused({"train", "--run-dir", "x"}), HasSubstr("--task: not given"));
  EXPECT_THAT(refused({"train", "--task", "copy"}), HasSubstr("--run-dir: not given"));
  EXPECT_THAT(refused({"evaluate"}), HasSubstr("--run-dir: not given"));
}

TEST(Options, ThatWouldDoNothingAreRefused) {
  const std::vector<std::pair<Words, Words>> given_and_needed = {
      {{"--max-steps", "9"}, {"--halting", "act"}},
      {{"--balance", "2"}, {"--halting", "act-copy"}},
      {{"--lstm-layers", "3"}, {"--model", "lstm"}},
      {{"--norm", "pre"}, {"--model", "universal"}},
      {{"--batch-window", "9"}, {"--batch-rows", "9"}},
      {{"--nonfinite-limit", "9"}, {"--on-nonfinite", "skip"}},
      {{"--checkpoint", "best"}, {"--resume"}},
      {{"--keep-every", "30"}, {"--checkpoint-every", "10"}},
      {{"--babi-memory", "9"}, {"--task", "babi", "--data", "there"}},
      {{"--lambada-form", "pointing"}, {"--task", "lambada", "--data", "there"}},
      {{"--lambada-common", "9"}, {"--lambada-context", "9", "--task", "lambada", "--data", "there"}},
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
  // What is so anyway can be said.
  for (const Words& more : {Words{"--halting", "none", "--max-steps", "0"},
                            Words{"--halting", "act-copy", "--max-steps", "9", "--steps", "9"}})
    EXPECT_EQ(train_refused(more), "") << more.back();
  EXPECT_THAT(train_refused({"--halting", "act-copy", "--max-steps", "9", "--steps", "8"}), HasSubstr("--steps: does"));
  const Words babi = {"--task", "babi", "--data", "there", "--halting", "none"};
  for (const Words& more : {Words{"--decoder-halting", "act"}, Words{"--decoder-steps", "3"}}) {
    Words all = babi;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_THAT(train_refused(all), HasSubstr(more.front() + ": does nothing here, needs a decoder"));
  }
  const Words language_model = {"--task", "lambada", "--lambada-form", "language-model", "--data", "there"};
  const std::vector<std::pair<Words, std::string>> of_no_encoder = {
      {{"--halting", "act", "--decoder-halting", "none"}, "--halting: does nothing here, needs an encoder beside"},
      {{"--halting", "act-copy", "--decoder-halting", "act", "--balance", "2"}, "--balance: does nothing here"},
      {{"--halting", "act", "--decoder-halting", "none", "--max-steps", "3"}, "--max-steps: does nothing here"},
      {{"--steps", "3", "--decoder-steps", "1"}, "--steps: does nothing here, needs an encoder beside"},
      {{"--halting", "act", "--max-steps", "3"}, ""},
      {{"--steps", "3"}, ""},
      {{"--lambada-context", "9"}, "--lambada-context: does nothing here, needs another --lambada-form"},
      {{"--halting", "act", "--decoder-halting", "act"}, ""}};
  for (const auto& [more, message] : of_no_encoder) {
    Words all = language_model;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_THAT(train_refused(all),
                message.empty() ? testing::Eq("") : testing::Matcher<std::string>(HasSubstr(message)));
  }
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

TEST(Options, SetsOfAnotherSplitThanThatScoredAreRefused) {
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

TEST(Options, BesideThoseThatTakeTheirPlaceAreRefused) {
  const auto nothing = [](const std::string& name) { return HasSubstr(name + ": does nothing here"); };
  const Words act = {"--halting", "act", "--max-steps", "9"};
  const auto halting = [&](Words more) {
    more.insert(more.begin(), act.begin(), act.end());
    return train_refused(more);
  };
  EXPECT_THAT(halting({"--steps", "6"}), nothing("--steps"));
  EXPECT_THAT(halting({"--decoder-steps", "6"}), nothing("--decoder-steps"));
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

TEST(Options, ConfigRoundTrip) {
  const Options options = train({"--variant",
                                 "tensor2tensor",
                                 "--norm",
                                 "post",
                                 "--attention-dropout",
                                 "0.3",
                                 "--learning-rate",
                                 "3e-4",
                                 "--decoder-steps",
                                 "5",
                                 "--schedule",
                                 "cosine",
                                 "--task",
                                 "translation",
                                 "--data",
                                 "/a b/#1 \"x\"",
                                 "--seed",
                                 "18446744073709551615",
                                 "--ranks",
                                 "4",
                                 "--sequence-parallel",
                                 "2",
                                 "--max-hours",
                                 "0.1"});
  const tests::TemporaryDirectory scratch;
  const auto file = scratch.write("all.conf", to_config(options));
  const Options again = parse_options({"train", "--config", file, "--run-dir", "nowhere"});
  for (const auto& entry : option_table()) EXPECT_EQ(entry.get(again), entry.get(options)) << entry.name;
  EXPECT_EQ(again.task.data, "/a b/#1 \"x\"");
  EXPECT_EQ(to_config(again), to_config(options));
}

TEST(Options, TheMeshIsLeftOpenUntilItIsGiven) {
  EXPECT_EQ(train({}).sequence_parallel, 0);
  EXPECT_FALSE(train({}).plan_exchange);
  EXPECT_THAT(to_config(train({})), testing::Not(HasSubstr("sequence-parallel")));
  const Options open = train({"--exchange", "auto"});
  EXPECT_TRUE(open.plan_exchange);
  EXPECT_THAT(to_config(open), HasSubstr("exchange = auto\n"));
  const Options given = train({"--exchange", "auto", "--exchange", "ring"});
  EXPECT_FALSE(given.plan_exchange);
  EXPECT_EQ(given.exchange.form, dist::ExchangeForm::ring);
  EXPECT_THAT(train_refused({"--exchange", "best"}),
              HasSubstr("needs one of all-gather, broadcast, ring, heads or auto"));
}

TEST(Options, TheMeshOfATrainedModelIsNotPlanned) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--exchange", "auto"}));  // as ut import writes it down
  const std::string run = scratch / "run";
  for (const std::string command : {"evaluate", "decode"}) {
    EXPECT_FALSE(parse_options({command, "--run-dir", run, "--sequence-parallel", "2"}).plan_exchange);
    EXPECT_EQ(parse_options({command, "--run-dir", run, "--exchange", "ring"}).exchange.form, dist::ExchangeForm::ring);
    EXPECT_THAT(refused({command, "--run-dir", run, "--exchange", "auto"}),
                testing::EndsWith("needs one of all-gather, broadcast, ring, heads"));
  }
  EXPECT_TRUE(parse_options({"bench", "--exchange", "auto"}).plan_exchange);
}

TEST(Options, PrecisionIsThatOfNumbersOrOfProducts) {
  EXPECT_EQ(train({"--precision", "float64"}).model.precision, core::Precision::float64);
  EXPECT_THAT(to_config(train({"--dtype", "float64"})), HasSubstr("precision = float64\n"));
  for (const std::string name : {"bfloat16", "bf16"}) {
    const Options options = train({"--precision", name});
    EXPECT_TRUE(options.model.bfloat16_products);
    EXPECT_EQ(options.model.precision, core::Precision::float32);
    EXPECT_THAT(to_config(options), HasSubstr("precision = bfloat16\n"));
  }
  EXPECT_FALSE(train({"--precision", "bf16", "--precision", "float32"}).model.bfloat16_products);
  EXPECT_THAT(train_refused({"--precision", "half"}), HasSubstr("needs one of float32, float64, bfloat16, bf16"));
  EXPECT_THAT(train_refused({"--dtype", "float64", "--precision", "bf16"}), HasSubstr("--dtype float64"));
}

TEST(Options, RelativeDataBecomesAbsolute) {
  const auto data = std::filesystem::path(train({"--task", "babi", "--data", "there"}).task.data);
  EXPECT_EQ(data, std::filesystem::current_path() / "there");
}

TEST(Resume, NeedsNothingButTheRunDirectory) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--d-model", "64", "--sequence-parallel", "2", "--seed", "5"}));
  const Options options = parse_options({"train", "--run-dir", scratch / "run", "--resume"});
  EXPECT_TRUE(options.resume);
  EXPECT_EQ(options.task.task, "copy");
  EXPECT_EQ(options.model.d_model, 64);
  EXPECT_EQ(options.seed, 5U);
  EXPECT_EQ(options.sequence_parallel, 0);
  EXPECT_EQ(options.recorded_sequence_parallel, 2);
  EXPECT_EQ(options.ranks, 0);
  EXPECT_EQ(options.recorded_ranks, 2);
}

TEST(Resume, SomeOptionsMayChange) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--task", "babi", "--data", "/here"}));
  const Options options = parse_options({"train", "--run-dir", scratch / "run", "--resume", "--max-updates", "9",
                                         "--ranks", "3", "--log-every", "1", "--data", "/elsewhere"});
  EXPECT_EQ(options.max_updates, 9);
  EXPECT_EQ(options.ranks, 3);
  EXPECT_EQ(options.log_every, 1);
  EXPECT_EQ(options.task.data, "/elsewhere");
}

TEST(Resume, OthersMayBeRepeatedButNotChange) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--d-model", "64", "--dropout", "0"}));
  const Words resume = {"train", "--run-dir", scratch / "run", "--resume"};
  const auto with = [&](const Words& more) {
    Words all = resume;
    all.insert(all.end(), more.begin(), more.end());
    return refused(all);
  };
  EXPECT_EQ(with({"--d-model", "64", "--task", "copy", "--dropout", "0"}), "");
  EXPECT_THAT(with({"--d-model", "128"}), AllOf(HasSubstr("--d-model"), HasSubstr("64"), HasSubstr("128")));
  EXPECT_THAT(with({"--dropout", "0.1"}), HasSubstr("resuming"));
  EXPECT_THAT(with({"--seed", "2"}), HasSubstr("--seed"));
  EXPECT_THAT(with({"--variant", "tensor2tensor"}), HasSubstr("--variant"));
}

TEST(Resume, WithoutARunIsRefused) {
  const tests::TemporaryDirectory scratch;
  EXPECT_THAT(refused({"train", "--run-dir", scratch / "none", "--resume"}), HasSubstr("leave out --resume"));
}

TEST(Evaluate, StartsFromTheRecordButForRanks) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--d-model", "64", "--sequence-parallel", "2", "--steps", "3", "--threads", "2"}));
  const auto run = scratch / "run";
  const Options options = parse_options({"evaluate", "--run-dir", run, "--steps", "12", "--split", "validation",
                                         "--checkpoint", "update-00000100", "--json"});
  EXPECT_EQ(options.model.d_model, 64);
  EXPECT_EQ(options.model.encoder_steps, 12);
  EXPECT_EQ(options.model.decoder_steps, 12);
  EXPECT_EQ(options.split, datasets::Split::validation);
  EXPECT_EQ(options.checkpoint, "update-00000100");
  EXPECT_TRUE(options.json);
  EXPECT_EQ(options.recorded_ranks, 0);
  EXPECT_EQ(options.sequence_parallel, 1);
  EXPECT_EQ(options.threads, 0);
  EXPECT_THAT(refused({"evaluate", "--run-dir", run, "--dtype", "float64"}), HasSubstr("is set when training"));
  EXPECT_THAT(refused({"evaluate", "--run-dir", run, "--checkpoint", "newest"}), HasSubstr("update-N"));
  EXPECT_THAT(refused({"decode", "--run-dir", scratch / "none"}), HasSubstr("there is no run"));
  std::filesystem::create_directories(scratch / "none/checkpoints/update-00000100");
  EXPECT_THAT(refused({"train", "--resume", "--run-dir", scratch / "none"}), HasSubstr("is gone, though"));
}

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

TEST(Plan, WhatCannotBeIsRefused) {
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

TEST(Doctor, LooksAtThePlaceNotAtARun) {
  const Options options = parse_options({"doctor", "--ranks", "2", "--run-dir", "nowhere"});
  EXPECT_EQ(options.command, "doctor");
  EXPECT_EQ(options.ranks, 2);
  EXPECT_EQ(options.run_dir, "nowhere");
  EXPECT_EQ(parse_options({"doctor"}).run_dir, "");
  EXPECT_THAT(refused({"doctor", "--task", "copy"}), HasSubstr("--task: unknown option"));
}

TEST(Data, Stories) {
  const Options options = parse_options({"data", "stories", "--facts", "2", "--train", "500", "--out", "x"});
  EXPECT_EQ(options.command, "data stories");
  EXPECT_EQ(options.data.facts, 2);
  EXPECT_EQ(options.data.train, 500);
  EXPECT_THAT(refused({"data"}), HasSubstr("stories, sentencepiece, check, fetch"));
  EXPECT_THAT(refused({"data", "tales"}), HasSubstr("\"data tales\""));
  EXPECT_THAT(refused({"data", "stories"}), HasSubstr("--out: not given"));
  EXPECT_THAT(refused({"data", "stories", "--facts", "4", "--out", "x"}), HasSubstr("1 to 3"));
}

TEST(Data, WhatIsMeantMayComeFirst) {
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

TEST(Help, IsAskedForAnywhere) {
  EXPECT_EQ(parse_options({"--help"}).command, "help");
  const Options options = parse_options({"train", "--heads", "x", "--help"});
  EXPECT_EQ(options.command, "help");
  EXPECT_EQ(options.topic, "train");
  EXPECT_EQ(parse_options({"help", "decode"}).topic, "decode");
  EXPECT_EQ(parse_options({"data", "--help"}).topic, "data");
  EXPECT_EQ(parse_options({"data", "check", "--help"}).topic, "data check");
  EXPECT_THAT(help("data"), testing::AllOf(HasSubstr("data fetch"), Not(HasSubstr("evaluate"))));
  EXPECT_EQ(parse_options({"--version"}).command, "version");
  for (const auto* command : {"train", "evaluate", "decode", "score", "bench", "plan", "doctor", "data stories",
                              "data sentencepiece", "data check", "data fetch", "report"})
    EXPECT_THAT(help(""), HasSubstr(std::string("\n  ") + command));
  for (const std::string& name : datasets::published_names()) EXPECT_THAT(help("data fetch"), HasSubstr(name));
  EXPECT_NE(tests::bad_input([] { help("nosuch"); }), "");
}

/// An option is accepted where the complaint about an impossible value is about the value.
TEST(Help, EveryOptionInItIsAccepted) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({}));
  const std::regex option_line("\n  --([a-z0-9-]+)( [A-Z]+)?");
  for (const std::string command : {"train", "evaluate", "decode", "score", "bench", "plan", "doctor", "data stories",
                                    "data sentencepiece", "data check", "data fetch", "report"}) {
    const auto text = help(command);
    int found = 0;
    for (std::sregex_iterator match(text.begin(), text.end(), option_line), end; match != end; ++match, ++found) {
      const auto name = "--" + match->str(1);
      if (name == "--help") continue;
      Words words;
      std::istringstream parts(command);
      for (std::string word; parts >> word;) words.push_back(word);
      words.push_back(name + (match->length(2) > 0 ? "=" : "=1"));
      const auto message = refused(words);
      EXPECT_THAT(message, HasSubstr(name == "--config" ? "" : name)) << command;
      EXPECT_THAT(message, Not(HasSubstr("unknown option"))) << command;
    }
    EXPECT_GT(found, 4) << command;
  }
}

}  // namespace
}  // namespace ut::launcher
