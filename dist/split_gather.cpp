#include "dist/split_gather.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "dist/accumulation_type.h"
#include "dist/differentiable.h"
#include "dist/rows_by_rank.h"

namespace ut::dist {
namespace {

/// Starts to sum the ranks' `all` [sum(counts), c], of which this rank gets its part [counts[rank], c]. Each part is
/// sent to its rank, which adds the parts in the order of their distance.
PendingTensor start_reduce_scatter(const at::Tensor& all, const std::vector<std::int64_t>& counts,
                                   Communicator& group) {
  const std::vector<at::Tensor> parts = all.split_with_sizes(counts);
  const auto part_at = [&](int distance) { return parts[static_cast<std::size_t>(group.rank_at(distance))]; };
  std::vector<PendingTensor> coming;
  for (int distance = 1; distance < group.size(); ++distance)
    coming.push_back(group.start_shift_rows(part_at(distance), part_at(0).size(0), distance, Purpose::exchange));
  return [coming, mine = part_at(0)] {
    at::Tensor sum = in_accumulation_type(coming.front()()).add_(mine);
    for (std::size_t part = 1; part < coming.size(); ++part) sum.add_(coming[part]());
    return sum;
  };
}

}  // namespace

SplitGather::SplitGather(const at::Tensor& rows) : coming_back_(std::make_shared<std::vector<PendingTensor>>()) {
  left_ = with_backward(at::empty({0}, rows.options()), {rows},
                        [coming = coming_back_, type = rows.scalar_type()](const at::Tensor&) {
                          at::Tensor sum = in_accumulation_type(coming->front()());
                          for (std::size_t part = 1; part < coming->size(); ++part) sum.add_((*coming)[part]());
                          return std::vector<at::Tensor>{sum.to(type)};
                        });
}

at::Tensor SplitGather::arrive(const at::Tensor& come,
                               std::function<PendingTensor(const at::Tensor&)> send_back) const {
  return with_backward(come, {left_},
                       [coming = coming_back_, send_back = std::move(send_back)](const at::Tensor& gradient) {
                         coming->push_back(send_back(gradient));
                         return std::vector<at::Tensor>{{}};
                       });
}

PendingTensor start_gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts, ExchangeForm form,
                                Communicator& group) {
  if (group.size() == 1) return [rows] { return rows; };
  if (form == ExchangeForm::broadcast || form == ExchangeForm::ring)
    return [blocks = std::shared_ptr<RowsByRank>(start_rows_by_rank(rows, counts, form, group))] {
      std::vector<at::Tensor> of_ranks;
      while (const auto block = blocks->next()) {
        const auto rank = static_cast<std::size_t>(block->rank);
        if (of_ranks.size() <= rank) of_ranks.resize(rank + 1);
        of_ranks[rank] = block->rows;
      }
      return at::cat(of_ranks);
    };
  return [gather = SplitGather(rows), coming = group.start_all_gather_rows(rows.detach(), counts, Purpose::exchange),
          counts, &group] {
    return gather.arrive(coming(), [counts, &group](const at::Tensor& gradient) {
      return start_reduce_scatter(gradient, counts, group);
    });
  };
}

}  // namespace ut::dist
