#include "dist/running_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "dist/on_device.h"
#include "dist/split_gather.h"

namespace ut::dist {

RunningGroup::RunningGroup(Rows all_rows, Communicator& of_group, ExchangeForm rows_travel)
    : all(std::move(all_rows)),
      sequence_of_row(sequence_numbers(all)),
      communicator(of_group),
      form(rows_travel),
      neighbours(all.offsets, of_group) {}

RunningStep::RunningStep(std::shared_ptr<RunningGroup> group, HeldRows held)
    : group_(std::move(group)), held_(std::move(held)) {
  for (std::size_t r = 0; r < held_.running.size(); ++r)
    counts_.push_back(std::ssize(held_.running[r]) + std::ssize(held_.just_halted[r]));
  const RowNumbers& mine = held_.running[static_cast<std::size_t>(this->group().rank())];
  local_ = set_of(mine);
  for (const std::int64_t row : mine) sequence_index_.push_back(group_->sequence_of(row));
}

RunningRowSet RunningStep::set_of(const RowNumbers& numbers) const {
  const at::Tensor index = at::tensor(numbers, at::kLong);
  RunningRowSet set;
  set.rows = {group_->all.sequence.index_select(0, index), group_->all.position.index_select(0, index), {}};
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    const std::int64_t sequence = group_->sequence_of(numbers[row]);
    if (!set.sequences.empty() && set.sequences.back() == sequence) continue;
    set.sequences.push_back(sequence);
    set.rows.offsets.push_back(static_cast<std::int64_t>(row));
  }
  set.rows.offsets.push_back(std::ssize(numbers));
  std::tie(set.seen, set.seen_numbers) = rows_of_sequences(group_->all, set.sequences);
  return set;
}

RunningOfAll RunningStep::running_of_all() const {
  std::vector<std::int64_t> counts;
  RowNumbers rows;
  for (const RowNumbers& running : held_.running) {
    counts.push_back(std::ssize(running));
    rows.insert(rows.end(), running.begin(), running.end());
  }
  const at::Tensor order = on_device(argsort(rows), group().device());
  std::ranges::sort(rows);
  return {set_of(rows), counts, order};
}

PendingTensor RunningStep::start_gather(const at::Tensor& rows) const {
  return start_gather_rows(rows, counts_, form(), group());
}

at::Tensor RunningStep::numbers_of_sent() const {
  RowNumbers numbers;
  for (std::size_t r = 0; r < held_.running.size(); ++r)
    for (const RowNumbers* rows : {&held_.running[r], &held_.just_halted[r]})
      numbers.insert(numbers.end(), rows->begin(), rows->end());
  return on_device(numbers, group().device());
}

KnownRows RunningStep::neighbours(const at::Tensor& rows, const std::shared_ptr<RowStore>& store, std::int64_t before,
                                  std::int64_t after) const {
  if (!beside_) beside_ = group_->neighbours.next_step(held_, before, after);
  if (beside_->before != before || beside_->after != after)
    throw std::logic_error("a step's layers need one reach: rows that one of them sees have not been sent");
  return group_->neighbours.bring(*beside_, rows, store);
}

}  // namespace ut::dist
