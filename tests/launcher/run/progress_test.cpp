#include "launcher/run/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace ut::launcher {
namespace {

using namespace std::chrono_literals;

ShownUpdate report_of(std::int64_t update) {
  ShownUpdate report;
  report.update = update;
  report.max_updates = 5000;
  report.loss = 0.0123;
  report.learning_rate = 1e-3;
  report.rows_per_second = 12345;
  report.gradient_norm = 0.5;
  return report;
}

/// Progress with a clock that the test moves.
struct Watched {
  explicit Watched(std::int64_t columns, bool quiet = false) : progress(out, columns, quiet, [this] { return now; }) {}
  std::chrono::steady_clock::time_point now;
  std::ostringstream out;
  Progress progress;
};

TEST(Progress, LineIsAlignedAndHuman) {
  EXPECT_EQ(progress_line(report_of(1200), 80),
            "update 1200/5000  loss 0.0123     12.3k rows/s  eta 1m20s   lr 1.0e-03  grad 0.5");
  EXPECT_EQ(progress_line(report_of(7), std::nullopt),
            "update    7/5000  loss 0.0123     12.3k rows/s  lr 1.0e-03  grad 0.5");
}

TEST(Progress, FieldsWithoutRoomAreLeftOutWhole) {
  auto report = report_of(7);
  report.ponder = 3.5;
  report.score = 0.987;
  const std::string first = "update    7/5000  loss 0.0123     12.3k rows/s  ponder 3.50  eta 2h05m ";
  EXPECT_EQ(progress_line(report, 7500), first + "  best 0.9870  lr 1.0e-03  grad 0.5");
  EXPECT_EQ(progress_line(report, 7500, 79), first);
}

TEST(Progress, DurationsHaveTheirTwoLargestUnits) {
  EXPECT_EQ(human_duration(0.4), "0s");
  EXPECT_EQ(human_duration(59.7), "1m00s");
  EXPECT_EQ(human_duration(7500), "2h05m");
  EXPECT_EQ(human_duration(273600), "3d04h");
  EXPECT_EQ(human_duration(1e300), "?");
}

TEST(Progress, WithoutATerminalALineComesEveryFewSeconds) {
  Watched watched(0);
  std::vector<std::int64_t> shown;
  for (std::int64_t update = 1; update <= 100; ++update) {
    const auto before = watched.out.str().size();
    watched.progress.report(report_of(update), update == 100);
    if (watched.out.str().size() > before) shown.push_back(update);
    watched.now += 100ms;
  }
  EXPECT_EQ(shown, (std::vector<std::int64_t>{1, 31, 61, 91, 100}));
  EXPECT_EQ(watched.out.str().find_first_of("\r\x1b"), std::string::npos);
}

TEST(Progress, TimeLeftFollowsThePace) {
  Watched watched(0);
  watched.progress.report(report_of(1000), false);
  watched.now += 100s;
  watched.progress.report(report_of(3000), false);
  EXPECT_NE(watched.out.str().find("eta 1m40s "), std::string::npos) << watched.out.str();
}

TEST(Progress, TimeLeftIsNoMoreThanTheRunMayTake) {
  Watched watched(0);
  watched.progress.report(report_of(1000), false);
  watched.now += 100s;
  ShownUpdate report = report_of(3000);
  report.seconds_allowed = 45;
  watched.progress.report(report, false);
  EXPECT_NE(watched.out.str().find("eta 45s "), std::string::npos) << watched.out.str();
}

TEST(Progress, OnATerminalTheLineIsRewrittenAndMessagesDoNotGarbleIt) {
  Watched watched(200);
  watched.progress.report(report_of(1), false);
  const auto first = progress_line(report_of(1), std::nullopt);
  EXPECT_EQ(watched.out.str(), first);
  watched.progress.say("hello");
  EXPECT_EQ(watched.out.str(), first + "\r\x1b[Khello\n");
  watched.out.str("");
  watched.now += 1s;
  watched.progress.report(report_of(5000), true);
  EXPECT_EQ(watched.out.str(), progress_line(report_of(5000), std::nullopt) + "\n");
}

TEST(Progress, ANarrowTerminalDoesNotWrap) {
  Watched watched(10);
  watched.progress.report(report_of(1), false);
  EXPECT_EQ(watched.out.str().size(), 9U);
}

TEST(Progress, QuietShowsOnlyResults) {
  Watched watched(0, true);
  watched.progress.report(report_of(1), true);
  watched.progress.say("hello");
  watched.progress.result("accuracy");
  EXPECT_EQ(watched.out.str(), "accuracy\n");
}

}  // namespace
}  // namespace ut::launcher
