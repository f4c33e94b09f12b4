#include "dist/blocks.h"

#include <ATen/ATen.h>

#include <utility>

#include "dist/differentiable.h"

namespace ut::dist {
namespace {

class BroadcastBlocks final : public ArrivingBlocks {
 public:
  BroadcastBlocks(const at::Tensor& rows, std::vector<std::int64_t> counts, Communicator& group) : group_(group) {
    const auto start = [&](const at::Tensor& mine) {
      arriving_ = group.start_broadcast_rows(mine, counts, Purpose::exchange);
      return arriving_.all;
    };
    const at::Tensor all = differentiable(
        rows, start, [&group, counts](const at::Tensor& gradient) { return reduce_scatter(gradient, counts, group); });
    blocks_ = all.split_with_sizes(counts);
  }

  std::optional<Block> next() override {
    if (given_ == group_.size()) return std::nullopt;
    const int rank = (group_.rank() + given_++) % group_.size();
    arriving_.arrived[static_cast<std::size_t>(rank)]();
    return Block{rank, blocks_[static_cast<std::size_t>(rank)]};
  }

 private:
  Communicator& group_;
  ArrivingRows arriving_;
  std::vector<at::Tensor> blocks_;  // [ranks]
  int given_ = 0;
};

class RingBlocks final : public ArrivingBlocks {
 public:
  RingBlocks(const at::Tensor& rows, std::vector<std::int64_t> counts, Communicator& group)
      : counts_(std::move(counts)), group_(group), rows_(rows) {}

  std::optional<Block> next() override {
    if (given_ == group_.size()) return std::nullopt;
    if (given_ > 0) rows_ = arrived();
    const int rank = rank_at(given_++);
    if (given_ < group_.size())
      coming_ = group_.start_shift_rows(rows_.detach(), count_at(given_), 1, Purpose::exchange);
    return Block{rank, rows_};
  }

 private:
  /// Whose rows are here after so many shifts.
  int rank_at(int shifts) const { return (group_.rank() - shifts + group_.size()) % group_.size(); }
  std::int64_t count_at(int shifts) const { return counts_[static_cast<std::size_t>(rank_at(shifts))]; }

  at::Tensor arrived() const {
    const auto back = [&group = group_, count = count_at(given_ - 1)](const at::Tensor& gradient) {
      return group.start_shift_rows(gradient, count, -1, Purpose::exchange)();
    };
    return differentiable(
        rows_, [this](const at::Tensor&) { return coming_(); }, back);
  }

  std::vector<std::int64_t> counts_;
  Communicator& group_;
  at::Tensor rows_;
  Arriving coming_;
  int given_ = 0;
};

}  // namespace

std::unique_ptr<ArrivingBlocks> start_blocks(const at::Tensor& rows, std::vector<std::int64_t> counts,
                                             ExchangeForm form, Communicator& group) {
  if (form == ExchangeForm::ring) return std::make_unique<RingBlocks>(rows, std::move(counts), group);
  return std::make_unique<BroadcastBlocks>(rows, std::move(counts), group);
}

at::Tensor gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts, ExchangeForm form,
                       Communicator& group) {
  if (form != ExchangeForm::broadcast && form != ExchangeForm::ring) return all_gather(rows, counts, group);
  std::vector<at::Tensor> of_ranks(counts.size());
  const auto blocks = start_blocks(rows, counts, form, group);
  while (const auto block = blocks->next()) of_ranks[static_cast<std::size_t>(block->rank)] = block->rows;
  return at::cat(of_ranks);
}

}  // namespace ut::dist
