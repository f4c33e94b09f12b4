#include "dist/roll_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/mpi/world.h"

namespace ut::dist {
namespace {

using std::chrono::milliseconds;

TEST(RollCall, FindsTheRankThatDoesNotWait) {
  const std::unique_ptr<Communicator> ranks = tests::world();
  const int late = ranks->size() - 1;
  std::promise<std::optional<std::vector<AbsentRank>>> found;
  const RollCall* asked = nullptr;
  Watchdog watchdog(milliseconds(1000), [&](const std::string&) { found.set_value(asked->absent()); });
  RollCall roll_call("here", MPI_COMM_WORLD, watchdog);
  asked = &roll_call;
  if (ranks->rank() == late) std::this_thread::sleep_for(milliseconds(2000));
  {
    const Watchdog::Wait wait(&watchdog, "for all");
    wait_for_all_ranks(MPI_COMM_WORLD, &roll_call);
  }
  if (ranks->rank() != late) {
    const std::optional<std::vector<AbsentRank>> absent = found.get_future().get();
    ASSERT_TRUE(absent.has_value());
    EXPECT_THAT(*absent, testing::ElementsAre(testing::Field(&AbsentRank::rank, late)));
    EXPECT_EQ(absent->front().host, "here");
  }
  EXPECT_FALSE(roll_call.absent().has_value() && ranks->rank() == late) << "which asked nobody";
  roll_call.end();
}

}  // namespace
}  // namespace ut::dist
