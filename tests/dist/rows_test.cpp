#include "dist/rows.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

namespace ut::dist {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> numbers(const at::Tensor& tensor) {
  const auto* data = tensor.const_data_ptr<std::int64_t>();
  return {data, data + tensor.numel()};
}

TEST(Owner, HoldsTheRowsOfItsShare) {
  for (const Cut cut : {Cut::contiguous, Cut::zigzag})
    for (const int ranks : {1, 2, 3, 4, 9})
      for (std::int64_t length = 1; length <= 30; ++length)
        for (std::int64_t id = 0; id < 20; ++id)
          for (int rank = 0; rank < ranks; ++rank)
            for (const std::int64_t position : numbers(rows_of({{id}, {length}}, rank, ranks, cut).position))
              EXPECT_EQ(owner(id, position, length, ranks, cut), rank) << position << " of " << length << ", id " << id;
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
  EXPECT_THAT(numbers(first.sequence), ElementsAre(7, 7, 5));  // of an odd id the first share is the larger one
  EXPECT_THAT(numbers(first.position), ElementsAre(0, 1, 0));
  EXPECT_THAT(first.offsets, ElementsAre(0, 2, 2, 3));
  const Rows second = rows_of(sequences, 1, 2);
  EXPECT_THAT(numbers(second.sequence), ElementsAre(7, 2, 5));
  EXPECT_THAT(numbers(second.position), ElementsAre(2, 0, 1));
  EXPECT_THAT(second.offsets, ElementsAre(0, 1, 2, 3));
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

TEST(RowsOf, ShortSequencesAreSpreadEvenlyOverRanks) {
  Sequences sequences;
  for (std::int64_t id = 0; id < 320; ++id) {
    sequences.ids.push_back(id);
    sequences.lengths.push_back(1 + id / 8);
  }
  for (const int ranks : {2, 3, 4, 8})
    for (const Cut cut : {Cut::contiguous, Cut::zigzag})
      for (int rank = 0; rank < ranks; ++rank) {
        const auto share = static_cast<double>(rows_of(sequences, rank, ranks, cut).count() * ranks) /
                           static_cast<double>(rows_of(sequences, 0, 1).count());
        EXPECT_NEAR(share, 1, 0.03) << "rank " << rank << " of " << ranks;
      }
}

TEST(RowsOf, NoSequencesGiveNoRows) {
  const Rows rows = rows_of({}, 0, 1);
  EXPECT_EQ(rows.count(), 0);
  EXPECT_EQ(rows.sequences(), 0);
  EXPECT_THAT(numbers(rows.position), IsEmpty());
}

TEST(Rows, KeepTheirIdentitiesIfSomeSequencesAreSelected) {
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
