#include "launcher/start/mpirun_errors.h"

#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

const std::string rule = std::string(74, '-') + '\n';
const std::string killed = rule + "Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n" +
                           rule + rule +
                           "mpirun noticed that process rank 3 with PID 0 on node n2 exited on signal 9 (Killed).\n" +
                           rule + "[vm:12] 1 more process has sent help message help-mpi-api.txt / mpi-abort\n";

TEST(MpirunErrors, TellWhichRankASignalEnded) {
  MpirunErrors errors;
  EXPECT_EQ(errors.pass_on("ut: one\n" + killed + "ut: two\n"), "ut: one\nut: two\n");
  ASSERT_TRUE(errors.told().ended_by_signal);
  EXPECT_EQ(errors.told().ended_by_signal->rank, 3);
  EXPECT_EQ(errors.told().ended_by_signal->host, "n2");
  EXPECT_TRUE(errors.told().rank_has_ended);
  EXPECT_EQ(errors.rest(), "");
}

TEST(MpirunErrors, AreThoseOfOpenMpi5Too) {
  MpirunErrors errors;
  EXPECT_EQ(
      errors.pass_on(
          rule + "prterun noticed that process rank 1 with PID 94 on node n2 exited on\nsignal 9 (Killed).\n" + rule),
      "");
  ASSERT_TRUE(errors.told().ended_by_signal);
  EXPECT_EQ(errors.told().ended_by_signal->rank, 1);
  EXPECT_FALSE(errors.told().rank_has_ended);
  EXPECT_EQ(errors.pass_on(rule +
                           "prterun detected that one or more processes exited with non-zero status,\nthus causing "
                           "the job to be terminated.\n" +
                           rule),
            "");
  EXPECT_TRUE(errors.told().rank_has_ended);
  using namespace std::string_literals;
  EXPECT_EQ(errors.pass_on("\0ut: rank 0 on host vm: a cause\n"s), "ut: rank 0 on host vm: a cause\n");
  EXPECT_TRUE(errors.told().cause);
}

TEST(MpirunErrors, ComeInAnyPieces) {
  const std::string text = "ut: one\n" + killed + "not the end of a line";
  for (std::size_t size = 1; size < 100; size += 7) {
    MpirunErrors errors;
    std::string passed;
    for (std::size_t begin = 0; begin < text.size(); begin += size)
      passed += errors.pass_on(std::string_view(text).substr(begin, size));
    EXPECT_EQ(passed + errors.rest(), "ut: one\nnot the end of a line");
    EXPECT_TRUE(errors.told().ended_by_signal);
  }
}

TEST(MpirunErrors, ArePassedOnIfOfOtherKinds) {
  MpirunErrors errors;
  const std::string slots = "There are not enough slots available in the system to satisfy the 9\nslots.\n";
  EXPECT_EQ(errors.pass_on(rule + slots + rule), slots);
  EXPECT_EQ(errors.pass_on(rule + "cut short\n"), "");
  EXPECT_EQ(errors.rest(), "cut short\n");
  EXPECT_FALSE(errors.told().ended_by_signal);
  EXPECT_FALSE(errors.told().rank_has_ended);
}

TEST(MpirunErrors, TellThatMpirunHasGivenUp) {
  MpirunErrors errors;
  errors.pass_on("[vm:1] An error\n");
  EXPECT_FALSE(errors.told().has_given_up);
  errors.pass_on("[vm:1] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n");
  EXPECT_TRUE(errors.told().has_given_up);
}

TEST(MpirunErrors, KeepOneIfSeveralRanksFailAtOnce) {
  MpirunErrors errors;
  EXPECT_EQ(errors.pass_on("ut: rank 0 on host vm: a cause\nut: rank 1 on host vm: a cause\nut: a warning\n"),
            "ut: rank 0 on host vm: a cause\nut: a warning\n");
}

TEST(MpirunErrors, MentionBrokenConnectionsOnlyWithoutACause) {
  for (const std::string broken : {"[vm:00896] Read -1, expected 7936, errno = 3\n",
                                   "[vm][[37058,1],0][btl_tcp_proc.c:266:graph] Unable to find reachable pairing\n"}) {
    MpirunErrors alone;
    EXPECT_EQ(alone.pass_on(broken), "");
    EXPECT_EQ(alone.rest(), broken);
    MpirunErrors told;
    EXPECT_EQ(told.pass_on(broken + "ut: rank 0 on host vm: a cause\n"), "ut: rank 0 on host vm: a cause\n");
    EXPECT_EQ(told.rest(), "");
    MpirunErrors warned;
    EXPECT_EQ(warned.pass_on("ut: LibTorch: a warning\n" + broken), "ut: LibTorch: a warning\n");
    EXPECT_EQ(warned.rest(), broken);
    MpirunErrors many;
    std::string passed;
    for (int line = 0; line < 1000; ++line) passed += many.pass_on(broken);
    EXPECT_GT(passed.size(), 500 * broken.size()) << "not kept without end";
  }
}

}  // namespace
}  // namespace ut::launcher
