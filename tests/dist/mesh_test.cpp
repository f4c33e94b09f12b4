#include "dist/mesh.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "base/error.h"

namespace ut::dist {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A rank whose other ranks do not exist: it only knows its number, splits, and counts what it sends.
class LoneRank final : public Communicator {
 public:
  LoneRank(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void all_reduce_sum(at::Tensor tensor, Purpose purpose) override { add_sent(purpose, tensor.numel()); }
  std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    all_reduce_sum(tensor, purpose);
    return [] {};
  }
  at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t>, std::span<const std::int64_t>,
                             Purpose) override {
    return rows;
  }
  PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t>, Purpose) override {
    return [local] { return local; };
  }
  PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t, int, Purpose) override {
    return [rows] { return rows; };
  }
  std::unique_ptr<Communicator> split(int) override { return std::make_unique<LoneRank>(0, 1); }

 private:
  int rank_;
  int size_;
};

std::string refusal(int ranks, int sequence_parallel) {
  try {
    const Mesh mesh(std::make_unique<LoneRank>(0, ranks), sequence_parallel);
  } catch (const base::BadInput& error) {
    return error.what();
  }
  return {};
}

TEST(Mesh, RefusesSequenceRanksThatDoNotDivideTheRanks) {
  for (const auto& [ranks, sequence_parallel] : {std::pair{4, 3}, {4, 8}, {6, 4}, {1, 2}, {4, 0}, {4, -2}})
    EXPECT_THAT(
        refusal(ranks, sequence_parallel),
        AllOf(HasSubstr("--sequence-parallel " + std::to_string(sequence_parallel)), HasSubstr(std::to_string(ranks))));
}

TEST(Mesh, TakesAnyFactorisation) {
  for (int ranks = 1; ranks <= 12; ++ranks)
    for (int sequence_parallel = 1; sequence_parallel <= ranks; ++sequence_parallel)
      EXPECT_EQ(refusal(ranks, sequence_parallel).empty(), ranks % sequence_parallel == 0);
}

TEST(Mesh, CountsTheBytesOfAllItsGroups) {
  const Mesh mesh(std::make_unique<LoneRank>(2, 4), 2);
  mesh.world().all_reduce_sum(at::zeros({3}), Purpose::gradients);
  mesh.sequence().all_reduce_sum(at::zeros({5}), Purpose::gradients);
  mesh.sequence().all_reduce_sum(at::zeros({7}), Purpose::control);
  EXPECT_EQ(mesh.sent_bytes(), (SentBytes{0, 8, 7}));
}

TEST(Mesh, SendsNothingIfSequencesAreNotCut) {
  const Mesh mesh(std::make_unique<LoneRank>(2, 4), 1);
  mesh.sequence().all_reduce_sum(at::zeros({5}), Purpose::exchange);
  EXPECT_EQ(mesh.sent_bytes(), SentBytes{});
  EXPECT_EQ(mesh.data_rank(), 2);
}

TEST(Mesh, IsOneByOneForOneRank) {
  const Mesh mesh(make_single_communicator(), 1);
  EXPECT_EQ(mesh.data_parallel(), 1);
  EXPECT_EQ(mesh.sequence_parallel(), 1);
  EXPECT_EQ(mesh.data_rank(), 0);
  EXPECT_EQ(mesh.sequence_rank(), 0);
}

TEST(SingleCommunicator, GivesBackWhatItGetsAndSendsNothing) {
  const auto group = make_single_communicator();
  EXPECT_EQ(group->rank(), 0);
  EXPECT_EQ(group->size(), 1);
  const at::Tensor rows = at::arange(12, at::kDouble).view({4, 3});
  const std::vector<std::int64_t> counts{4};
  const at::Tensor summed = rows.clone();
  group->all_reduce_sum(summed, Purpose::gradients);
  EXPECT_TRUE(summed.equal(rows));
  EXPECT_TRUE(group->all_gather_rows(rows, counts, Purpose::exchange).equal(rows));
  EXPECT_TRUE(group->all_to_all_rows(rows, counts, counts, Purpose::exchange).equal(rows));
  EXPECT_EQ(group->split(3)->size(), 1);
  EXPECT_EQ(group->sent_bytes(), SentBytes{});
}

}  // namespace
}  // namespace ut::dist
