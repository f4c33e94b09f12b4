#include "datasets/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace ut::datasets {
namespace {

using Indices = std::vector<std::int64_t>;

TEST(Sampler, DrawsEachExampleExactlyOnceAnEpoch) {
  for (const std::int64_t examples : {1, 2, 7, 1000}) {
    Sampler sampler(examples, 3);
    Indices all(static_cast<std::size_t>(examples));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
      Indices drawn = sampler.indices(epoch * examples, examples);
      std::sort(drawn.begin(), drawn.end());
      EXPECT_EQ(drawn, all) << examples << " examples, epoch " << epoch;
    }
  }
}

TEST(Sampler, GivesTheSameHoweverCallsAreSplit) {
  Sampler whole(10, 5);
  const Indices wanted = whole.indices(0, 64);
  for (const std::int64_t step : {1, 3, 10, 17, 64}) {
    Sampler sampler(10, 5);
    Indices drawn;
    for (std::int64_t cursor = 0; cursor < 64; cursor += step) {
      const Indices part = sampler.indices(cursor, std::min(step, 64 - cursor));
      drawn.insert(drawn.end(), part.begin(), part.end());
    }
    EXPECT_EQ(drawn, wanted) << step;
  }
}

TEST(Sampler, ResumesAnywhereAndGoesBack) {
  Sampler whole(10, 5);
  const Indices wanted = whole.indices(0, 64);
  for (const std::int64_t cursor : {37, 9, 10, 0, 63}) {
    Sampler resumed(10, 5);
    const Indices rest(wanted.begin() + cursor, wanted.end());
    EXPECT_EQ(resumed.indices(cursor, 64 - cursor), rest);
    EXPECT_EQ(whole.indices(cursor, 64 - cursor), rest);
  }
}

TEST(Sampler, EpochsAndSeedsDiffer) {
  Sampler sampler(100, 5);
  EXPECT_NE(sampler.indices(0, 100), sampler.indices(100, 100));
  EXPECT_NE(sampler.indices(0, 100), Sampler(100, 6).indices(0, 100));
}

TEST(Sampler, AllOrdersAreEquallyLikely) {
  Sampler sampler(3, 1);
  std::map<Indices, int> counts;
  constexpr int epochs = 6000;
  for (int epoch = 0; epoch < epochs; ++epoch) ++counts[sampler.indices(std::int64_t{3} * epoch, 3)];
  EXPECT_EQ(counts.size(), 6u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, epochs / 6.0, 150);
}

TEST(Sampler, SenselessUseThrows) {
  EXPECT_THROW(Sampler(0, 1), std::invalid_argument);
  Sampler sampler(3, 1);
  EXPECT_THROW(sampler.indices(-1, 2), std::invalid_argument);
  EXPECT_THROW(sampler.indices(0, -1), std::invalid_argument);
  EXPECT_TRUE(sampler.indices(5, 0).empty());
}

}  // namespace
}  // namespace ut::datasets
