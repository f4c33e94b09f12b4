#include "launcher/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/launcher/options/given_words.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

TEST(Options, AScheduleDropsNoLearningRateOfAnEarlierSource) {
  const tests::TemporaryDirectory scratch;
  const std::string file = scratch.write("my.conf", "learning-rate = 0.0005\nwarmup = 50\n");
  EXPECT_EQ(train_refused({"--config", file, "--schedule", "inverse-square-root", "--warmup", "60"}),
            "--schedule: needs --learning-rate beside it: " + file +
                " line 1: learning-rate = 0.0005 was given for another schedule");
  EXPECT_THAT(train_refused({"--config", file, "--schedule", "inverse-square-root", "--learning-rate", "1"}),
              HasSubstr("needs --warmup beside it"));
  const auto schedule = train({"--config", file, "--schedule", "cosine"}).optimizer.schedule;
  EXPECT_EQ(schedule.learning_rate, 0.0005);
  EXPECT_EQ(schedule.warmup, 50);
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

TEST(Options, HeadsAndLayersAreAtMostWhatDropoutCanTellApart) {
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

TEST(Options, StopSignalsAreChosenByName) {
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

}  // namespace
}  // namespace ut::launcher
