#include "launcher/start/choose_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bad_input.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Options options_with(std::int64_t ranks, std::int64_t sequence_parallel = 1) {
  Options options;
  options.ranks = ranks;
  options.sequence_parallel = sequence_parallel;
  return options;
}

TEST(Ranks, AreAsManyAsRequestedOrStarted) {
  const RankEnvironment none;
  EXPECT_EQ(choose_ranks(options_with(0), none), 1);
  EXPECT_EQ(choose_ranks(options_with(3), none), 3);
  EXPECT_EQ(choose_ranks(options_with(0), {true, 0, 4}), 4);
  EXPECT_EQ(choose_ranks(options_with(4), {true, 0, 4}), 4);
  EXPECT_EQ(choose_ranks(options_with(4), {true, 0, 0}), 0);
}

TEST(Ranks, RecordedNumberYieldsToMpirun) {
  Options options = options_with(0);
  options.recorded_ranks = 2;
  EXPECT_EQ(choose_ranks(options, {}), 2);
  EXPECT_EQ(choose_ranks(options, {true, 0, 5}), 5);
}

TEST(Ranks, SequenceRanksAreTheRecordedIfTheyDivideAllRanks) {
  Options options = options_with(0);
  options.sequence_parallel = 0;
  options.recorded_sequence_parallel = 3;
  EXPECT_EQ(choose_sequence_parallel(options, 6), 3);
  EXPECT_EQ(choose_sequence_parallel(options, 4), 0) << "ut plan chooses";
  options.exchange.form = dist::ExchangeForm::heads;
  options.model.heads = 2;
  EXPECT_THAT(tests::bad_input([&] { choose_sequence_parallel(options, 6); }),
              testing::HasSubstr("--exchange heads: 3 ranks cannot share"));
  options.plan_exchange = true;
  EXPECT_EQ(choose_sequence_parallel(options, 6), 3) << "another form is chosen";
  options.sequence_parallel = 2;
  EXPECT_EQ(choose_sequence_parallel(options, 4), 2);
}

TEST(Ranks, AreRefusedWithBothNumbersIfOthersWereStarted) {
  EXPECT_THAT(tests::bad_input([] {
                choose_ranks(options_with(2), {true, 0, 4});
              }),
              AllOf(HasSubstr("--ranks: 2"), HasSubstr("started 4")));
}

/// A run of four ranks that goes on in a Slurm job of one task, and in a shell of that job.
TEST(Ranks, TheOnlyTaskOfSrunIsOneUnlessMoreAreAskedFor) {
  Options options = options_with(0);
  options.recorded_ranks = 4;
  EXPECT_EQ(choose_ranks(options, {.is_only_task = true}), 1);
  options.ranks = 2;
  EXPECT_EQ(choose_ranks(options, {.is_only_task = true}), 2);
}

TEST(Ranks, SequenceRanksMustDivideThem) {
  EXPECT_EQ(choose_ranks(options_with(4, 2), {}), 4);
  EXPECT_THAT(tests::bad_input([] { choose_ranks(options_with(2, 4), {}); }),
              AllOf(HasSubstr("--sequence-parallel: 4"), HasSubstr("is 2")));
  EXPECT_NE(tests::bad_input([] { choose_ranks(options_with(4, 3), {}); }), "");
}

TEST(Ranks, FillTheHostsUnlessAskedOtherwise) {
  const std::vector<Host> hosts = {{"one", 2}, {"two", 4}};
  EXPECT_EQ(choose_ranks(options_with(0), {}, hosts), 6);
  EXPECT_EQ(choose_ranks(options_with(3), {}, hosts), 3);
  Options options = options_with(7);
  options.hostfile = "/my/hosts";
  EXPECT_THAT(tests::bad_input([&] { choose_ranks(options, {}, hosts); }),
              AllOf(HasSubstr("--ranks: 7"), HasSubstr("6 slots"), HasSubstr("/my/hosts")));
}

}  // namespace
}  // namespace ut::launcher
