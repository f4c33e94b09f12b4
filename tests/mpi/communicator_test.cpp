// One suite for all communicators: it runs for each of communicator_cases().

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "dist/mesh.h"
#include "tests/mpi/communicators.h"
#include "tests/mpi/world.h"

namespace ut::dist {
namespace {

constexpr at::ScalarType types[] = {at::kFloat, at::kDouble, at::kLong};

/// Values that name their place: 10000 * rank + 100 * row + column. They are whole numbers, exact in every type.
at::Tensor named_rows(int rank, std::int64_t rows, std::int64_t columns, at::ScalarType type) {
  return (10000 * rank + 100 * at::arange(rows).unsqueeze(1) + at::arange(columns).unsqueeze(0)).to(type);
}

/// How many rows each rank has: equal, uneven with none on some ranks, all on the last rank, none at all.
std::vector<std::vector<std::int64_t>> row_counts(int ranks) {
  std::vector<std::vector<std::int64_t>> patterns(4);
  for (int rank = 0; rank < ranks; ++rank) {
    patterns[0].push_back(3);
    patterns[1].push_back(rank * 7 % 5);
    patterns[2].push_back(rank == ranks - 1 ? 4 : 0);
    patterns[3].push_back(0);
  }
  return patterns;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

class Collectives : public testing::TestWithParam<tests::CommunicatorCase> {
 public:
  /// The tensor on the tested device.
  at::Tensor here(const at::Tensor& tensor) const { return tensor.to(device); }
  /// Whether the result is on the tested device and equal to `expected`.
  bool same(const at::Tensor& result, const at::Tensor& expected) const {
    return result.device() == device && result.cpu().equal(expected);
  }
  std::int64_t sent(Purpose purpose) const { return group->sent_bytes().at(static_cast<std::size_t>(purpose)); }

  /// Calls check(type, counts, columns) for many of them.
  template <class Check>
  void for_types_and_sizes(const Check& check) const {
    for (const auto type : types)
      for (const auto& counts : row_counts(ranks))
        for (const std::int64_t columns : {1, 5}) {
          SCOPED_TRACE(fmt::format("{}, {} rows in all, {} columns", toString(type), sum(counts), columns));
          check(type, counts, columns);
        }
  }

  at::Device device = GetParam().device;
  std::unique_ptr<Communicator> group = GetParam().make();
  int rank = group->rank();
  int ranks = group->size();
  std::int64_t own_index = rank;  // to index with
};

TEST_P(Collectives, AllReduceSumsOverTheRanks) {
  for (const auto type : types)
    for (const std::int64_t elements : {0, 1, 1000, 100000}) {
      const at::Tensor index = at::arange(elements).remainder(1000);
      const at::Tensor tensor = here((index + 1000 * (rank + 1)).to(type));
      group->all_reduce_sum(tensor, Purpose::control);
      const at::Tensor expected = (index * ranks + 500 * ranks * (ranks + 1)).to(type);
      EXPECT_TRUE(same(tensor, expected)) << toString(type) << ", " << elements << " elements";
    }
}

TEST_P(Collectives, AllReduceGivesEveryRankTheSameBits) {
  const at::Tensor mine = at::sin(at::arange(100000, at::kFloat) * (rank + 1));
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 1);
  const auto expect_same_bits = [&](const at::Tensor& summed) {
    const at::Tensor all = group->all_gather_rows(summed.unsqueeze(0), counts, Purpose::control);
    for (int other = 0; other < ranks; ++other) EXPECT_TRUE(all[other].equal(summed)) << "rank " << other;
  };
  const at::Tensor waited_for = here(mine);
  group->all_reduce_sum(waited_for, Purpose::control);
  expect_same_bits(waited_for);
  const at::Tensor begun = here(mine);
  group->start_all_reduce_sum(begun, Purpose::control)();
  expect_same_bits(begun);
}

TEST_P(Collectives, StartedAllReduceGivesTheSameLater) {
  const at::Tensor first = here(at::full({50000}, rank + 1, at::kDouble));
  const at::Tensor second = here(at::full({7}, rank + 1, at::kFloat));
  const auto first_summed = group->start_all_reduce_sum(first, Purpose::gradients);
  const auto second_summed = group->start_all_reduce_sum(second, Purpose::gradients);
  group->progress();
  const at::Tensor between = here(at::ones({3}, at::kDouble));
  group->all_reduce_sum(between, Purpose::control);
  second_summed();
  first_summed();
  const std::int64_t sum = std::int64_t{ranks} * (ranks + 1) / 2;
  EXPECT_TRUE(same(first, at::full({50000}, sum, at::kDouble)));
  EXPECT_TRUE(same(second, at::full({7}, sum, at::kFloat)));
  EXPECT_TRUE(same(between, at::full({3}, ranks, at::kDouble)));
  EXPECT_EQ(sent(Purpose::gradients), 2 * 400000 * (ranks - 1) / ranks + 2 * 28 * (ranks - 1) / ranks);
}

TEST_P(Collectives, AllGatherGivesTheRowsInTheOrderOfRanks) {
  for_types_and_sizes([&](at::ScalarType type, const std::vector<std::int64_t>& counts, std::int64_t columns) {
    std::vector<at::Tensor> expected;
    for (int other = 0; other < ranks; ++other)
      expected.push_back(named_rows(other, counts[static_cast<std::size_t>(other)], columns, type));
    const at::Tensor mine = here(expected[static_cast<std::size_t>(rank)]);
    EXPECT_TRUE(same(group->all_gather_rows(mine, counts, Purpose::exchange), at::cat(expected)));
    const at::Tensor strided = at::stack({mine, mine + 1}, 2).select(2, 0);
    EXPECT_TRUE(same(group->all_gather_rows(strided, counts, Purpose::exchange), at::cat(expected)));
  });
}

TEST_P(Collectives, StartedAllGatherGivesTheSameLater) {
  std::vector<std::int64_t> counts;
  for (int other = 0; other < ranks; ++other) counts.push_back(other % 3);
  const auto rows_of = [&](int other) {
    return at::full({counts[static_cast<std::size_t>(other)], 2}, other, at::kByte);
  };
  const PendingTensor first = group->start_all_gather_rows(here(rows_of(rank)), counts, Purpose::control);
  const PendingTensor second = group->start_all_gather_rows(here(rows_of(rank) + 10), counts, Purpose::control);
  const at::Tensor between = here(at::ones({3}, at::kDouble));
  group->all_reduce_sum(between, Purpose::control);
  std::vector<at::Tensor> expected;
  for (int other = 0; other < ranks; ++other) expected.push_back(rows_of(other));
  EXPECT_TRUE(same(second(), at::cat(expected) + 10));
  EXPECT_TRUE(same(first(), at::cat(expected)));
  EXPECT_TRUE(same(between, at::full({3}, ranks, at::kDouble)));
}

TEST_P(Collectives, ShiftsBringTheRowsOfTheRankAtThatDistance) {
  for_types_and_sizes([&](at::ScalarType type, const std::vector<std::int64_t>& counts, std::int64_t columns) {
    for (const int distance : {-1, 0, 1, ranks}) {
      const int from = ((rank - distance) % ranks + ranks) % ranks;
      const auto rows_of = [&](int other) {
        return named_rows(other, counts[static_cast<std::size_t>(other)], columns, type);
      };
      const PendingTensor arriving = group->start_shift_rows(
          here(rows_of(rank)), counts[static_cast<std::size_t>(from)], distance, Purpose::exchange);
      EXPECT_TRUE(same(arriving(), rows_of(from))) << "distance " << distance;
    }
  });
}

TEST_P(Collectives, AllToAllDeliversEachPartToItsRank) {
  const auto rows_between = [](int from, int to) { return std::int64_t{(from * 3 + to * 2) % 4}; };  // 0 for some pairs
  const auto first_row_to = [&](int from, int to) {
    std::int64_t row = 0;
    for (int before = 0; before < to; ++before) row += rows_between(from, before);
    return row;
  };
  std::vector<std::int64_t> sent_rows;
  std::vector<std::int64_t> received_rows;
  for (int other = 0; other < ranks; ++other) {
    sent_rows.push_back(rows_between(rank, other));
    received_rows.push_back(rows_between(other, rank));
  }
  for (const auto type : types)
    for (const std::int64_t columns : {1, 6}) {
      std::vector<at::Tensor> expected;
      for (int other = 0; other < ranks; ++other)
        expected.push_back(
            named_rows(other, 100, columns, type).narrow(0, first_row_to(other, rank), rows_between(other, rank)));
      const at::Tensor result = group->all_to_all_rows(here(named_rows(rank, sum(sent_rows), columns, type)), sent_rows,
                                                       received_rows, Purpose::exchange);
      EXPECT_TRUE(same(result, at::cat(expected))) << toString(type) << ", " << columns << " columns";
    }
}

TEST_P(Collectives, RefusesTypesThatItCannotSend) {
  if (GetParam().name == "single") return;  // it sends nothing
  const at::Tensor complex = here(at::zeros({3}, at::kComplexFloat));
  EXPECT_THROW(group->all_reduce_sum(complex, Purpose::control), std::runtime_error);
}

TEST_P(Collectives, SplitsIntoTheRanksOfOneColour) {
  const auto part = group->split(rank % 2);
  EXPECT_EQ(part->rank(), rank / 2);
  EXPECT_EQ(part->size(), (ranks + 1 - rank % 2) / 2);
  const at::Tensor total = here(at::full({1}, rank, at::kLong));
  part->all_reduce_sum(total, Purpose::control);
  std::int64_t expected = 0;
  for (int other = rank % 2; other < ranks; other += 2) expected += other;
  EXPECT_EQ(total.item<std::int64_t>(), expected);
  EXPECT_EQ(sent(Purpose::control), 0) << "the part counts for itself";
}

TEST_P(Collectives, CountsBytesByPurpose) {
  group->all_reduce_sum(here(at::zeros({600}, at::kFloat)), Purpose::gradients);
  EXPECT_EQ(sent(Purpose::gradients), 2 * 2400 * (ranks - 1) / ranks);
  std::vector<std::int64_t> counts;
  for (int other = 0; other < ranks; ++other) counts.push_back(other);
  group->all_gather_rows(here(at::zeros({own_index, 3}, at::kDouble)), counts, Purpose::exchange);
  std::int64_t expected = own_index * 24 * (ranks - 1);
  EXPECT_EQ(sent(Purpose::exchange), expected);
  const std::vector<std::int64_t> twos(static_cast<std::size_t>(ranks), 2);
  group->all_to_all_rows(here(at::zeros({sum(twos), 5}, at::kFloat)), twos, twos, Purpose::control);
  EXPECT_EQ(sent(Purpose::control), 2 * 20 * (ranks - 1)) << "what a rank keeps is not sent";
  group->start_shift_rows(here(at::zeros({2, 3}, at::kDouble)), 2, 1, Purpose::exchange)();
  expected += ranks == 1 ? 0 : 48;
  EXPECT_EQ(sent(Purpose::exchange), expected);
}

/// Collectives may run asynchronously (NCCL). The program may still use their results at once, and free their inputs at
/// once, as if they had finished.
TEST_P(Collectives, KeepTheOrderOfTheWorkAroundThem) {
  const at::Tensor values = here(at::ones({1000}, at::kLong));
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 1);
  std::int64_t expected = 1;
  for (int round = 0; round < 10; ++round) {
    values.add_(1);
    group->all_reduce_sum(values, Purpose::control);
    expected = (expected + 1) * ranks;
    const at::Tensor gathered = group->all_gather_rows(values.clone().unsqueeze(0), counts, Purpose::control);
    values.zero_();
    values.add_(gathered[0]);
  }
  EXPECT_TRUE(same(values, at::full({1000}, expected, at::kLong)));
}

TEST_P(Collectives, CarryTensorsOfTheHostToo) {
  const at::Tensor sum_of_ones = at::ones({5}, at::kDouble);
  group->all_reduce_sum(sum_of_ones, Purpose::control);
  EXPECT_TRUE(sum_of_ones.equal(at::full({5}, ranks, at::kDouble)));
  EXPECT_EQ(sent(Purpose::control), 2 * 40 * (ranks - 1) / ranks);
}

INSTANTIATE_TEST_SUITE_P(Over, Collectives, testing::ValuesIn(tests::communicator_cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(MpiMesh, HasTheRanksOfASequenceSideBySide) {
  const int rank = tests::world()->rank();
  const int ranks = tests::world()->size();
  for (int sequence_parallel = 1; sequence_parallel <= ranks; ++sequence_parallel) {
    if (ranks % sequence_parallel != 0) continue;
    const Mesh mesh(tests::world(), sequence_parallel);
    EXPECT_EQ(mesh.sequence_parallel(), sequence_parallel);
    EXPECT_EQ(mesh.data_parallel(), ranks / sequence_parallel);
    EXPECT_EQ(mesh.data_rank() * sequence_parallel + mesh.sequence_rank(), rank);
    const at::Tensor members = at::zeros({ranks}, at::kLong);
    members[rank] = 1;
    mesh.sequence().all_reduce_sum(members, Purpose::control);
    for (int other = 0; other < ranks; ++other)
      EXPECT_EQ(members[other].item<std::int64_t>(), other / sequence_parallel == mesh.data_rank() ? 1 : 0)
          << "rank " << other << ", S = " << sequence_parallel;
  }
}

}  // namespace
}  // namespace ut::dist
