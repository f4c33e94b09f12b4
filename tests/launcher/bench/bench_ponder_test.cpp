#include "launcher/bench/bench_ponder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "dist/rows.h"

namespace ut::launcher {
namespace {

/// The last step of each row, by the rule of adaptive computation time.
std::vector<std::int64_t> steps_taken(const DrawnPonder& ponder, const dist::Rows& rows, double threshold) {
  const core::HaltingDraw draw = halting_draw(ponder, threshold);
  std::vector<std::int64_t> steps(static_cast<std::size_t>(rows.count()), 0);
  std::vector<double> sum(steps.size(), 0);
  for (std::int64_t step = 1; step <= 100; ++step) {
    const at::Tensor probability = draw(step, rows);
    for (std::size_t row = 0; row < steps.size(); ++row) {
      if (steps[row] > 0) continue;
      sum[row] += probability[static_cast<std::int64_t>(row)].item<double>();
      if (sum[row] > threshold) steps[row] = step;
    }
  }
  return steps;
}

struct Case {
  double mean;
  std::int64_t most;
};

class Drawn : public testing::TestWithParam<Case> {};

TEST_P(Drawn, HasTheMeanAndStaysInRange) {
  const auto [mean, most] = GetParam();
  const DrawnPonder ponder(mean, most, 7);
  constexpr std::int64_t sequences = 200;
  constexpr std::int64_t positions = 100;
  double sum = 0;
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence)
    for (std::int64_t position = 0; position < positions; ++position) {
      const std::int64_t steps = ponder(sequence, position);
      ASSERT_GE(steps, 1);
      ASSERT_LE(steps, most);
      sum += static_cast<double>(steps);
    }
  const double rows = sequences * positions;
  EXPECT_NEAR(sum / rows, mean, 5 * static_cast<double>(most) / 2 / std::sqrt(rows));  // no deviation exceeds most / 2
}

INSTANTIATE_TEST_SUITE_P(, Drawn,
                         testing::Values(Case{1.001, 12}, Case{3, 12}, Case{6.5, 12}, Case{11, 12}, Case{1.5, 2},
                                         Case{2, 1000}));

TEST(DrawnPonder, EndsOfTheRangeAreExact) {
  for (const double mean : {1.0, 12.0}) {
    const DrawnPonder ponder(mean, 12, 3);
    for (std::int64_t position = 0; position < 1000; ++position)
      ASSERT_EQ(ponder(5, position), static_cast<std::int64_t>(mean));
  }
  EXPECT_EQ(DrawnPonder(1, 1, 3)(0, 0), 1);
}

TEST(DrawnPonder, FollowsAGeometricDistribution) {
  const DrawnPonder ponder(3, 12, 1);
  std::vector<double> rows(13, 0);
  for (std::int64_t position = 0; position < 200000; ++position)
    rows.at(static_cast<std::size_t>(ponder(0, position))) += 1;
  const double ratio = rows[2] / rows[1];
  for (std::size_t steps = 3; steps <= 6; ++steps) EXPECT_NEAR(rows[steps] / rows[steps - 1], ratio, 0.03) << steps;
}

TEST(HaltingDraw, StopsRowsAfterTheDrawnStepsWhateverTheThreshold) {
  const dist::Rows rows = dist::rows_of({{0, 1, 2}, {40, 3, 17}}, 0, 1);
  const DrawnPonder ponder(4, 12, 9);
  const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  for (const double threshold : {0.01, 0.99, 1.0}) {
    const auto taken = steps_taken(ponder, rows, threshold);
    for (std::size_t row = 0; row < taken.size(); ++row)
      EXPECT_EQ(taken[row], ponder(sequence[row], position[row])) << threshold;
  }
}

TEST(HaltingDraw, IsTheSameOnEverySharding) {
  const dist::Sequences sequences{{4, 5, 6}, {9, 2, 14}};
  const core::HaltingDraw draw = halting_draw(DrawnPonder(3, 8, 2), 0.99);
  const auto by_identity = [&](int ranks) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> found;
    for (int rank = 0; rank < ranks; ++rank) {
      const dist::Rows rows = dist::rows_of(sequences, rank, ranks);
      const at::Tensor probability = draw(2, rows);
      for (std::int64_t row = 0; row < rows.count(); ++row)
        found[{rows.sequence[row].item<std::int64_t>(), rows.position[row].item<std::int64_t>()}] =
            probability[row].item<double>();
    }
    return found;
  };
  EXPECT_EQ(by_identity(1).size(), 25U);
  for (const int ranks : {2, 3, 4}) EXPECT_EQ(by_identity(ranks), by_identity(1)) << ranks;
}

}  // namespace
}  // namespace ut::launcher
