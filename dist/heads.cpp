#include "dist/heads.h"

#include <ATen/ATen.h>

#include <utility>

#include "base/error.h"
#include "dist/differentiable.h"

namespace ut::dist {
namespace {

/// Cuts rows by head instead of by position, and back. Each way is the other's transpose. No graph is made.
class HeadCut {
 public:
  HeadCut(std::int64_t blocks, std::int64_t heads, const std::vector<std::int64_t>& counts, Communicator& group)
      : blocks_(blocks), heads_(heads), held_(counts[static_cast<std::size_t>(group.rank())]), group_(group) {
    const base::Span mine = my_heads(heads, group);
    mine_ = blocks * (mine.end - mine.begin);
    for (int rank = 0; rank < group.size(); ++rank) {
      const base::Span theirs = base::share(heads, rank, group.size());
      heads_of_rank_.push_back(theirs.end - theirs.begin);
      part_sizes_by_position_.push_back(held_ * blocks * heads_of_rank_.back());
      part_sizes_by_head_.push_back(counts[static_cast<std::size_t>(rank)] * mine_);
    }
  }

  at::Tensor by_head(const at::Tensor& rows) const {
    const std::int64_t columns = rows.size(1) / (blocks_ * heads_);
    const at::Tensor sent = at::empty({held_ * blocks_ * heads_, columns}, rows.options());
    for (const auto& [heads, part] : by_rank(rows, sent)) part.copy_(heads);
    return group_.all_to_all_rows(sent, part_sizes_by_position_, part_sizes_by_head_, Purpose::exchange)
        .view({-1, mine_ * columns});
  }

  at::Tensor by_position(const at::Tensor& rows) const {
    const std::int64_t columns = rows.size(1) / mine_;
    const at::Tensor received = group_.all_to_all_rows(rows.reshape({-1, columns}), part_sizes_by_head_,
                                                       part_sizes_by_position_, Purpose::exchange);
    at::Tensor result = at::empty({held_, blocks_ * heads_ * columns}, rows.options());
    for (const auto& [heads, part] : by_rank(result, received)) heads.copy_(part);
    return result;
  }

 private:
  /// For each rank two views [held, blocks, its heads, c]: its heads in `rows` [held, blocks * heads * c], and their
  /// place in `travelling` [held * blocks * heads, c], the rows sent to the ranks or received from them.
  std::vector<std::pair<at::Tensor, at::Tensor>> by_rank(const at::Tensor& rows, const at::Tensor& travelling) const {
    const auto heads = rows.reshape({held_, blocks_, heads_, travelling.size(1)}).split_with_sizes(heads_of_rank_, 2);
    const auto parts = travelling.split_with_sizes(part_sizes_by_position_);
    std::vector<std::pair<at::Tensor, at::Tensor>> result;
    for (std::size_t rank = 0; rank < heads.size(); ++rank)
      result.emplace_back(heads[rank], parts[rank].view(heads[rank].sizes()));
    return result;
  }

  std::int64_t blocks_;
  std::int64_t heads_;
  std::int64_t held_;                                 // rows held here
  std::int64_t mine_;                                 // this rank's heads, of all blocks
  std::vector<std::int64_t> heads_of_rank_;           // [ranks]
  std::vector<std::int64_t> part_sizes_by_position_;  // [ranks]: that rank's heads of the rows held here
  std::vector<std::int64_t> part_sizes_by_head_;      // [ranks]: this rank's heads of that rank's rows
  Communicator& group_;
};

}  // namespace

base::Span my_heads(std::int64_t heads, const Communicator& group) {
  if (heads < group.size())
    throw base::BadInput(
        "{} heads cannot be shared by {} ranks of a sequence; at most one rank a head, or another form of exchange",
        heads, group.size());
  return base::share(heads, group.rank(), group.size());
}

at::Tensor to_heads(const at::Tensor& rows, std::int64_t blocks, std::int64_t heads,
                    const std::vector<std::int64_t>& counts, Communicator& group) {
  const HeadCut cut(blocks, heads, counts, group);
  return differentiable(
      rows, [&](const at::Tensor& held) { return cut.by_head(held); },
      [cut](const at::Tensor& gradient) { return cut.by_position(gradient); });
}

at::Tensor from_heads(const at::Tensor& rows, std::int64_t heads, const std::vector<std::int64_t>& counts,
                      Communicator& group) {
  const HeadCut cut(1, heads, counts, group);
  return differentiable(
      rows, [&](const at::Tensor& seen) { return cut.by_position(seen); },
      [cut](const at::Tensor& gradient) { return cut.by_head(gradient); });
}

}  // namespace ut::dist
