#include "launcher/options/option_record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "launcher/options/option_changes.h"
#include "launcher/options/option_table.h"
#include "tests/launcher/options/given_words.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Options, EvaluationDoesNotTakeTheDeviceOfTheRun) {
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

TEST(Options, APathLeadsWhereTheSystemWouldGo) {
  const tests::TemporaryDirectory scratch;
  std::filesystem::create_directories(scratch / "far/away");
  std::filesystem::create_symlink(scratch / "far/away", scratch / "link");
  const auto data = [&](const std::string& path) { return train({"--task", "babi", "--data", path}).task.data; };
  EXPECT_EQ(data(scratch / "link/../stories"), std::filesystem::canonical(scratch / "far") / "stories");
  EXPECT_EQ(data(scratch / "link/./stories"), scratch / "link/stories") << "as it was given";
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
  record_run(scratch, train({"--exchange", "auto"}));  // as `ut import` writes it
  const std::string run = scratch / "run";
  for (const std::string command : {"evaluate", "decode"}) {
    EXPECT_FALSE(parse_options({command, "--run-dir", run, "--sequence-parallel", "2"}).plan_exchange);
    EXPECT_EQ(parse_options({command, "--run-dir", run, "--exchange", "ring"}).exchange.form, dist::ExchangeForm::ring);
    EXPECT_THAT(refused({command, "--run-dir", run, "--exchange", "auto"}),
                testing::EndsWith("needs one of all-gather, broadcast, ring, heads"));
  }
  EXPECT_TRUE(parse_options({"bench", "--exchange", "auto"}).plan_exchange);
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

TEST(Resume, GoesOnWithoutTheHostsOfItsRecord) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({"--hostfile", "/my/hosts"}));
  const std::vector<std::string> resume = {"train", "--run-dir", scratch / "run", "--resume"};
  EXPECT_EQ(parse_options(resume).hostfile, "/my/hosts");
  const auto with = [&](const std::string& hosts) {
    auto words = resume;
    words.insert(words.end(), {"--hostfile", hosts});
    return parse_options(words).hostfile;
  };
  EXPECT_EQ(with("/other"), "/other");
  EXPECT_EQ(with("none"), "");
}

TEST(Resume, OtherOptionsMayBeRepeatedButNotChange) {
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
  EXPECT_THAT(with({"--dropout", "0.1"}),
              AllOf(HasSubstr("--dropout: "), HasSubstr("has --residual-dropout 0, which cannot become 0.1")));
  EXPECT_THAT(with({"--seed", "2"}), HasSubstr("--seed"));
  EXPECT_THAT(with({"--variant", "tensor2tensor"}), HasSubstr("--variant"));
}

TEST(Resume, OptionsThatWereNotGivenBeforeAreChanges) {
  const Words translation{"--task", "translation", "--data", "/pairs"};
  Words more = translation;
  more.insert(more.end(), {"--test-set", "val,test", "--decoder-steps", "3"});
  const std::string recorded = to_config(train(translation));
  std::vector<std::string> names;
  for (const OptionChange& change :
       changes_between(as_recorded(recorded, train(more), "it"), train(more), command_train))
    names.push_back(fmt::format("{}: {} -> {}", change.name, change.before, change.now));
  EXPECT_THAT(names, testing::UnorderedElementsAre("test-set:  -> val,test", testing::StartsWith("decoder-steps: ")));
}

TEST(Resume, IsRefusedWithoutARun) {
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

}  // namespace
}  // namespace ut::launcher
