#include "dist/work_watch.h"

#include <gmock/gmock.h>

#include <atomic>

namespace ut::dist {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

constexpr WatchLimits long_limits{milliseconds(60'000), milliseconds(60'000), milliseconds(1)};

void never(const std::string& what) { ADD_FAILURE() << what; }

std::string failure(const WorkWatch& watch) {
  try {
    watch.check();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

/// Whether `condition` becomes true within a minute: on a busy machine that can take a while.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

class FakeCommunicator final : public Watched {
 public:
  explicit FakeCommunicator(WorkWatch& watch) : watch_(watch) { watch_.add(*this); }
  ~FakeCommunicator() override { watch_.remove(*this); }
  FakeCommunicator(const FakeCommunicator&) = delete;
  FakeCommunicator& operator=(const FakeCommunicator&) = delete;

  std::string asynchronous_error() override { return broken ? "the link is down" : ""; }
  void abort() noexcept override {
    at_abort();
    ++aborts;
  }

  std::atomic<bool> broken = false;
  std::atomic<int> aborts = 0;
  std::function<void()> at_abort = [] {};

 private:
  WorkWatch& watch_;
};

TEST(WorkWatch, IgnoresWorkThatEnds) {
  WorkWatch watch(long_limits, never);
  const FakeCommunicator communicator(watch);
  std::atomic<int> asked = 0;
  watch.begin("all-reduce", [&] { return ++asked >= 3; });
  watch.begin("all-gather", [&] { return ++asked >= 6; });
  EXPECT_TRUE(comes_true([&] { return asked == 6; }));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(asked, 6) << "what has ended is not asked again";
  EXPECT_EQ(failure(watch), "");
  EXPECT_EQ(communicator.aborts, 0);
}

TEST(WorkWatch, AbortsAllCommunicatorsOnceWorkTakesTooLong) {
  WorkWatch watch({milliseconds(50), milliseconds(10), milliseconds(1)}, [](const std::string&) {});
  const FakeCommunicator first(watch);
  const FakeCommunicator second(watch);
  watch.begin("all-reduce of 12 bytes", [] { return false; });
  EXPECT_TRUE(comes_true([&] { return first.aborts == 1 && second.aborts == 1; }));
  EXPECT_THAT(failure(watch), AllOf(HasSubstr("all-reduce of 12 bytes"), HasSubstr("0.05 s"), HasSubstr("--timeout")));
}

TEST(WorkWatch, AbortsAllCommunicatorsWhenOneReportsAnError) {
  WorkWatch watch(long_limits, never);
  FakeCommunicator first(watch);
  const FakeCommunicator second(watch);
  first.broken = true;
  EXPECT_TRUE(comes_true([&] { return first.aborts == 1 && second.aborts == 1; }));
  EXPECT_EQ(failure(watch), "the link is down");
}

TEST(WorkWatch, RefusesNewWorkBeforeItAborts) {
  WorkWatch watch(long_limits, never);
  FakeCommunicator communicator(watch);
  std::string seen;
  communicator.at_abort = [&] { seen = failure(watch); };
  watch.fail("no memory");
  watch.fail("and more of the same");
  EXPECT_TRUE(comes_true([&] { return communicator.aborts == 1; }));
  EXPECT_EQ(seen, "no memory") << "a thread that the abort frees must not go on";
}

TEST(WorkWatch, LetsWorkUnderWayEndBeforeItAborts) {
  WorkWatch watch(long_limits, never);
  FakeCommunicator communicator(watch);
  std::atomic<bool> ended = false;
  bool ended_at_abort = false;
  communicator.at_abort = [&] { ended_at_abort = ended; };
  watch.begin("all-gather", [&] { return ended.load(); });
  watch.fail("no memory");
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(communicator.aborts, 0);
  ended = true;
  EXPECT_TRUE(comes_true([&] { return communicator.aborts == 1; }));
  EXPECT_TRUE(ended_at_abort);
}

TEST(WorkWatch, AbortsAmidWorkThatDoesNotEndInTime) {
  WorkWatch watch({milliseconds(60'000), milliseconds(30), milliseconds(1)}, never);
  const FakeCommunicator communicator(watch);
  watch.begin("all-gather", [] { return false; });
  watch.fail("no memory");
  EXPECT_TRUE(comes_true([&] { return communicator.aborts == 1; }));
}

TEST(WorkWatch, TreatsWorkWhoseQueryThrowsAsFailed) {
  WorkWatch watch(long_limits, never);
  const FakeCommunicator communicator(watch);
  watch.begin("reduce-scatter", []() -> bool { throw std::runtime_error("illegal address"); });
  EXPECT_TRUE(comes_true([&] { return communicator.aborts == 1; }));
  EXPECT_EQ(failure(watch), "reduce-scatter: illegal address");
}

TEST(WorkWatch, AbortsAllCommunicatorsAtTheSameTime) {
  WorkWatch watch(long_limits, never);
  FakeCommunicator first(watch);
  FakeCommunicator second(watch);
  std::atomic<int> inside = 0;
  const auto wait_for_both = [&] {
    ++inside;
    comes_true([&] { return inside == 2; });
  };
  first.at_abort = wait_for_both;
  second.at_abort = wait_for_both;
  watch.fail("no memory");
  EXPECT_TRUE(comes_true([&] { return first.aborts == 1 && second.aborts == 1; }));
}

TEST(WorkWatch, DoesNotAbortDestroyedCommunicators) {
  WorkWatch watch(long_limits, never);
  const FakeCommunicator stays(watch);
  { const FakeCommunicator gone(watch); }
  watch.fail("no memory");
  EXPECT_TRUE(comes_true([&] { return stays.aborts == 1; }));
}

TEST(WorkWatch, EndsAtOnceWithWorkUnderWay) {
  WorkWatch watch(long_limits, never);
  watch.begin("all-reduce", [] { return false; });
}

/// What WorkWatch::Stuck was told, and a place where threads wait for that.
class LastResort {
 public:
  WorkWatch::Stuck stuck() {
    return [this](const std::string& what) {
      told_ = what;
      is_told_ = true;
      is_told_.notify_all();
    };
  }
  const std::string& told() const {
    is_told_.wait(false);
    return told_;
  }

 private:
  std::string told_;
  std::atomic<bool> is_told_ = false;
};

TEST(WorkWatch, SaysThatAnAbortHangs) {
  LastResort resort;
  WorkWatch watch({milliseconds(100), milliseconds(10), milliseconds(1)}, resort.stuck());
  FakeCommunicator communicator(watch);
  communicator.at_abort = [&] { resort.told(); };
  watch.fail("no memory");
  EXPECT_EQ(resort.told(), "no memory; NCCL's abort does not return");
}

TEST(WorkWatch, SaysThatTheGpuDoesNotAnswer) {
  LastResort resort;
  WorkWatch watch({milliseconds(100), milliseconds(10), milliseconds(1)}, resort.stuck());
  watch.begin("all-gather", [&] { return !resort.told().empty(); });
  EXPECT_EQ(resort.told(), "a question to the GPU does not return");
}

}  // namespace
}  // namespace ut::dist
