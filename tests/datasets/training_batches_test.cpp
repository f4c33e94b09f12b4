#include "datasets/training_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace ut::datasets {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Examples that contain their number, of lengths 1 to 40. If `grow`, later examples are longer.
class Numbered final : public Task {
 public:
  explicit Numbered(std::int64_t examples, bool grow = false) : examples_(examples), grow_(grow) {}

  std::string description() const override { return "numbered"; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::int64_t words_per_row() const override { return 1; }
  bool has_target() const override { return true; }
  std::int64_t size(Split) const override { return examples_; }
  Example example(Split, std::int64_t index) const override {
    Example example;
    example.source.assign(static_cast<std::size_t>(1 + (grow_ ? index * 40 / examples_ : index * 7 % 40)), {index});
    example.target.assign(static_cast<std::size_t>(1 + index % 3), index);
    return example;
  }
  Example parse(const std::string&) const override { return {}; }
  std::string render(const Numbers&) const override { return {}; }

 private:
  std::int64_t examples_;
  bool grow_;
  Vocabulary vocabulary_{std::vector<std::string>{"word"}};
};

Numbers numbers_of(const Batch& batch) {
  Numbers numbers;
  for (const ExampleSize& example : batch.examples) numbers.push_back(example.number);
  return numbers;
}

/// Calls visit(begin, end) with the examples of each micro-batch.
template <class Visit>
void for_each_part(const Batch& batch, const Visit& visit) {
  auto begin = batch.examples.begin();
  for (const std::int64_t count : batch.parts) {
    visit(begin, begin + count);
    begin += count;
  }
  EXPECT_EQ(begin, batch.examples.end());
}

constexpr BatchOptions by_rows{2, 0, 120, 60};

TEST(TrainingBatches, ByNumberTakesTheSamplesInOrder) {
  const Numbered task(10);
  Sampler sampler(10, 5);
  TrainingBatches batches(task, {2, 3, 0, 60}, 5);
  for (std::int64_t update = 0; update < 7; ++update) {
    EXPECT_EQ(batches.cursor().sample, update * 6);
    const Batch batch = batches.next();
    EXPECT_EQ(batch.parts, (Numbers{3, 3}));
    EXPECT_EQ(numbers_of(batch), sampler.indices(update * 6, 6));
  }
}

TEST(TrainingBatches, ByRowsNearlyFillTheLimitAndNeverExceedIt) {
  const Numbered task(300);
  TrainingBatches batches(task, by_rows, 5);
  double rows = 0;
  double parts = 0;
  for (int update = 0; update < 30; ++update)
    for_each_part(batches.next(), [&](auto first, auto last) {
      const std::int64_t of_part = std::accumulate(
          first, last, std::int64_t{0}, [](std::int64_t sum, const ExampleSize& one) { return sum + one.rows(); });
      EXPECT_LE(of_part, by_rows.rows);
      rows += static_cast<double>(of_part);
      ++parts;
    });
  EXPECT_GT(rows / parts, 0.8 * static_cast<double>(by_rows.rows));
}

TEST(TrainingBatches, ByRowsLeaveNoSmallLastPart) {
  const Numbered task(300);
  constexpr std::int64_t longest = 43;
  for (const std::int64_t rows : {130, 220, 350, 700, 1200, 5000}) {
    TrainingBatches batches(task, {1, 0, rows, 60}, 5);
    while (batches.cursor().sample < 1200) {
      const std::int64_t window = batches.cursor().sample;
      Numbers parts;
      while (batches.cursor().sample == window) parts.push_back(batches.next().rows());
      const std::int64_t all = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
      EXPECT_LE(std::ranges::max(parts), rows);
      EXPECT_LE(std::ranges::max(parts), all / std::ssize(parts) + longest);
      EXPECT_GE(std::ranges::min(parts), all / std::ssize(parts) - longest * std::ssize(parts));
    }
  }
}

TEST(TrainingBatches, AWindowFillsSixteenPartsByDefault) {
  for (const bool grow : {false, true}) {
    const Numbered task(3000, grow);
    for (const std::int64_t rows : {200, 2000}) {
      TrainingBatches batches(task, {1, 0, rows, 0}, 5);
      std::int64_t parts = 0;
      while (batches.cursor().sample == 0) {
        EXPECT_GT(batches.next().rows(), 3 * rows / 4);
        ++parts;
      }
      EXPECT_NEAR(static_cast<double>(parts), 16, 2.1) << rows << (grow ? ", growing" : "");
    }
  }
}

TEST(TrainingBatches, ByRowsPutLikeLengthsTogetherInRandomOrder) {
  const Numbered task(300);
  TrainingBatches batches(task, by_rows, 5);
  Numbers longest;
  for (int update = 0; update < 30; ++update)
    for_each_part(batches.next(), [&](auto first, auto last) {
      const auto [least, most] = std::minmax_element(
          first, last, [](const ExampleSize& one, const ExampleSize& other) { return one.rows() < other.rows(); });
      EXPECT_LE(most->rows() - least->rows(), 16);
      longest.push_back(most->rows());
    });
  EXPECT_FALSE(std::ranges::is_sorted(longest));
  const auto ascents = std::ranges::count_if(longest, [&, before = std::int64_t{0}](std::int64_t rows) mutable {
    return rows >= std::exchange(before, rows);
  });
  EXPECT_GT(ascents, std::ssize(longest) / 4);
  EXPECT_LT(ascents, 3 * std::ssize(longest) / 4);
}

/// Each window is an epoch, so that all windows have parts of the same rows.
TEST(TrainingBatches, ByRowsPartsComeInAnotherOrderInEveryWindow) {
  const Numbered task(60);
  TrainingBatches batches(task, {1, 0, 120, 60}, 5);
  std::set<Numbers> orders;
  std::set<Numbers> parts;
  for (std::int64_t window = 0; window < 5; ++window) {
    Numbers rows;
    while (batches.cursor().sample == 60 * window) rows.push_back(batches.next().rows());
    orders.insert(rows);
    std::ranges::sort(rows);
    parts.insert(rows);
  }
  EXPECT_EQ(parts.size(), 1u);
  EXPECT_EQ(orders.size(), 5u);
}

TEST(TrainingBatches, ByRowsEveryExampleComesOnceAnEpoch) {
  const Numbered task(120);
  TrainingBatches batches(task, {1, 0, 100, 60}, 5);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    Numbers seen;
    while (batches.cursor().sample < 120 * (epoch + 1)) {
      const Numbers numbers = numbers_of(batches.next());
      seen.insert(seen.end(), numbers.begin(), numbers.end());
    }
    std::ranges::sort(seen);
    Numbers all(120);
    std::iota(all.begin(), all.end(), std::int64_t{0});
    EXPECT_EQ(seen, all) << "epoch " << epoch;
  }
}

TEST(TrainingBatches, ByRowsASequenceThatIsTooLongComesAlone) {
  const Numbered task(40);
  TrainingBatches batches(task, {1, 0, 20, 40}, 5);
  for (int update = 0; update < 40; ++update) {
    const Batch batch = batches.next();
    ASSERT_FALSE(batch.examples.empty());
    EXPECT_TRUE(batch.rows() <= 20 || batch.examples.size() == 1) << "update " << update;
  }
}

TEST(TrainingBatches, GoOnFromEveryCursor) {
  const Numbered task(300);
  for (const BatchOptions& options : {by_rows, BatchOptions{3, 4, 0, 60}}) {
    TrainingBatches whole(task, options, 5);
    for (int update = 0; update < 25; ++update) {
      TrainingBatches resumed(task, options, 5, whole.cursor());
      const Numbers wanted = numbers_of(whole.next());
      EXPECT_EQ(numbers_of(resumed.next()), wanted) << "update " << update;
    }
  }
}

TEST(TrainingBatches, RefuseAnInvalidCursor) {
  const Numbered task(300);
  EXPECT_THROW(TrainingBatches(task, by_rows, 5, {-1, 0}), base::BadInput);
  EXPECT_THROW(TrainingBatches(task, {1, 4, 0, 60}, 5, {8, 1}), base::BadInput);
}

/// A run may be resumed with other data, whose windows have fewer parts.
TEST(TrainingBatches, GoOnAtTheNextWindowIfTheCursorsPartIsMissing) {
  const Numbered task(300);
  TrainingBatches beyond(task, by_rows, 5, {0, 1000});
  TrainingBatches next(task, by_rows, 5, {by_rows.window, 0});
  EXPECT_EQ(numbers_of(beyond.next()), numbers_of(next.next()));
}

}  // namespace
}  // namespace ut::datasets
