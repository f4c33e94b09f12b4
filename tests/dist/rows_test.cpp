#include "dist/rows.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "base/span.h"
#include "tests/base/lengths_and_parts.h"

namespace ut::dist {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> numbers(const at::Tensor& tensor) {
  const auto* data = tensor.const_data_ptr<std::int64_t>();
  return {data, data + tensor.numel()};
}

TEST(Owner, HoldsTheShareThatThePositionIsIn) {
  base::for_lengths_and_parts([](std::int64_t length, int ranks) {
    for (std::int64_t position = 0; position < length; ++position) {
      const int rank = owner(position, length, ranks);
      ASSERT_TRUE(rank >= 0 && rank < ranks) << "position " << position << " is rank " << rank << "'s";
      const base::Span part = base::share(length, rank, ranks);
      EXPECT_TRUE(part.begin <= position && position < part.end) << "position " << position << ", rank " << rank;
    }
  });
}

TEST(RowsOf, OneRankHoldsAllInTheOrderOfSequencesThenPositions) {
  const Rows rows = rows_of({{7, 2, 5}, {3, 1, 2}}, 0, 1);
  EXPECT_THAT(numbers(rows.sequence), ElementsAre(7, 7, 7, 2, 5, 5));
  EXPECT_THAT(numbers(rows.position), ElementsAre(0, 1, 2, 0, 0, 1));
  EXPECT_THAT(rows.offsets, ElementsAre(0, 3, 4, 6));
  EXPECT_EQ(rows.count(), 6);
  EXPECT_EQ(rows.sequences(), 3);
}

TEST(RowsOf, RanksHoldTheirSharesAndListEverySequence) {
  const Sequences sequences{{7, 2, 5}, {3, 1, 2}};
  const Rows first = rows_of(sequences, 0, 2);
  EXPECT_THAT(numbers(first.sequence), ElementsAre(7, 5));
  EXPECT_THAT(numbers(first.position), ElementsAre(0, 0));
  EXPECT_THAT(first.offsets, ElementsAre(0, 1, 1, 2));
  const Rows second = rows_of(sequences, 1, 2);
  EXPECT_THAT(numbers(second.sequence), ElementsAre(7, 7, 2, 5));
  EXPECT_THAT(numbers(second.position), ElementsAre(1, 2, 0, 1));
  EXPECT_THAT(second.offsets, ElementsAre(0, 2, 3, 4));
}

TEST(RowsOf, RanksTogetherHoldEachRowOnce) {
  Sequences sequences;
  for (std::int64_t id = 0; id < 12; ++id) {
    sequences.ids.push_back(id);
    sequences.lengths.push_back(1 + id * 5 % 7);
  }
  for (int ranks = 1; ranks <= 9; ++ranks) {
    at::Tensor held = at::zeros({12, 7}, at::kLong);
    for (int rank = 0; rank < ranks; ++rank) {
      const Rows rows = rows_of(sequences, rank, ranks);
      held.index_put_({rows.sequence, rows.position}, at::ones({rows.count()}, at::kLong), true);
    }
    for (std::int64_t id = 0; id < 12; ++id) {
      EXPECT_TRUE(held[id].narrow(0, 0, 1 + id * 5 % 7).eq(1).all().item<bool>()) << ranks << " ranks, sequence " << id;
    }
    EXPECT_EQ(held.sum().item<std::int64_t>(), rows_of(sequences, 0, 1).count()) << ranks << " ranks";
  }
}

TEST(RowsOf, NoSequencesAreNoRows) {
  const Rows rows = rows_of({}, 0, 1);
  EXPECT_EQ(rows.count(), 0);
  EXPECT_EQ(rows.sequences(), 0);
  EXPECT_THAT(numbers(rows.position), IsEmpty());
}

TEST(Rows, OfSomeSequencesKeepTheirIdentities) {
  const Rows all = rows_of({{4, 5, 9}, {2, 3, 1}}, 0, 1);
  const auto [rows, places] = rows_of_sequences(all, std::vector<std::int64_t>{0, 2});
  EXPECT_THAT(numbers(rows.sequence), ElementsAre(4, 4, 9));
  EXPECT_THAT(numbers(rows.position), ElementsAre(0, 1, 0));
  EXPECT_THAT(rows.offsets, ElementsAre(0, 2, 3));
  EXPECT_THAT(places, ElementsAre(0, 1, 5));
  EXPECT_EQ(rows_of_sequences(all, {}).first.count(), 0);
}

}  // namespace
}  // namespace ut::dist
