#include "dist/rows_by_rank.h"

#include <ATen/ATen.h>

#include <utility>

#include "dist/split_gather.h"

namespace ut::dist {
namespace {

/// Each rank sends its rows to every other, first to the next one of the ring. So rows arrive in the order in which
/// they are given out, no rank waits for another to pass them on, and rows from before, which a causal mask shows,
/// come first.
class BroadcastRows final : public RowsByRank {
 public:
  BroadcastRows(const at::Tensor& rows, const std::vector<std::int64_t>& counts, Communicator& group)
      : group_(group), rows_(rows), gather_(rows) {
    for (int distance = 1; distance < group.size(); ++distance)
      coming_.push_back(group.start_shift_rows(
          rows.detach(), counts[static_cast<std::size_t>(group.rank_at(-distance))], distance, Purpose::exchange));
  }

  std::optional<RankRows> next() override {
    if (given_ == group_.size()) return std::nullopt;
    const int distance = given_++;
    if (distance == 0) return RankRows{group_.rank(), rows_};
    return RankRows{group_.rank_at(-distance),
                    gather_.arrive(coming_[static_cast<std::size_t>(distance - 1)](),
                                   [&group = group_, mine = rows_.size(0), distance](const at::Tensor& gradient) {
                                     return group.start_shift_rows(gradient, mine, -distance, Purpose::exchange);
                                   })};
  }

 private:
  Communicator& group_;
  at::Tensor rows_;
  SplitGather gather_;
  std::vector<PendingTensor> coming_;  // [ranks - 1], by distance
  int given_ = 0;
};

class RingRows final : public RowsByRank {
 public:
  RingRows(const at::Tensor& rows, std::vector<std::int64_t> counts, Communicator& group)
      : counts_(std::move(counts)), group_(group), rows_(rows) {
    start_shift();
  }

  std::optional<RankRows> next() override {
    if (given_ == group_.size()) return std::nullopt;
    if (given_ > 0) {
      rows_ = gather_->arrive(coming_(), [&group = group_, sent = rows_.size(0)](const at::Tensor& gradient) {
        return group.start_shift_rows(gradient, sent, -1, Purpose::exchange);
      });
      start_shift();
    }
    return RankRows{group_.rank_at(-given_++), rows_};
  }

 private:
  /// Passes on the rows that are here, unless the next rank started with them.
  void start_shift() {
    if (++shifts_ == group_.size()) return;
    gather_.emplace(rows_);
    coming_ = group_.start_shift_rows(rows_.detach(), count_at(shifts_), 1, Purpose::exchange);
  }

  /// The number of rows that are here after this many shifts.
  std::int64_t count_at(int shifts) const { return counts_[static_cast<std::size_t>(group_.rank_at(-shifts))]; }

  std::vector<std::int64_t> counts_;
  Communicator& group_;
  at::Tensor rows_;
  std::optional<SplitGather> gather_;
  PendingTensor coming_;
  int shifts_ = 0;
  int given_ = 0;
};

}  // namespace

std::unique_ptr<RowsByRank> start_rows_by_rank(const at::Tensor& rows, std::vector<std::int64_t> counts,
                                               ExchangeForm form, Communicator& group) {
  if (form == ExchangeForm::ring) return std::make_unique<RingRows>(rows, std::move(counts), group);
  return std::make_unique<BroadcastRows>(rows, counts, group);
}

}  // namespace ut::dist
