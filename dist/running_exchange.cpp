#include "dist/running_exchange.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "dist/balanced_rows.h"
#include "dist/differentiable.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"
#include "dist/to_host.h"

namespace ut::dist {

RunningExchange::RunningExchange(Rows all, std::vector<RowNumbers> held, Communicator& group, ExchangeForm form,
                                 double balance)
    : group_(std::make_shared<RunningGroup>(std::move(all), group, form)),
      balance_(balance),
      home_(std::move(held)),
      halted_(home_.size()),
      step_(std::make_shared<const RunningStep>(
          group_, HeldRows{home_, std::vector<RowNumbers>(home_.size()), std::vector<RowNumbers>(home_.size())})) {}

at::Tensor RunningExchange::index_of(const RowNumbers& numbers) const { return on_device(numbers, group().device()); }

bool RunningExchange::any() const {
  return std::ranges::any_of(step_->held().running, [](const RowNumbers& rows) { return !rows.empty(); });
}

void RunningExchange::start_compaction(const at::Tensor& running) {
  std::vector<std::int64_t> counts;
  for (const RowNumbers& rows : step_->held().running) counts.push_back(std::ssize(rows));
  const auto tell = [this, counts](const at::Tensor& flags) {
    return group().start_all_gather_rows(flags, counts, Purpose::control);
  };
  const at::Tensor flags = running.to(at::kByte);
  // Waiting for a device here would keep this rank from giving it the step's work.
  flags_ = flags.is_cpu() ? tell(flags) : [tell, copy = start_to_host(flags)] { return tell(copy())(); };
}

Compaction RunningExchange::finish_compaction() {
  HeldRows held = step_->held();
  const RowNumbers before = held.running[rank()];
  const std::vector<RowNumbers> stopped = stop_rows(flags_(), held);
  const auto numbers_among = [this, &before](const RowNumbers& rows) {
    RowNumbers numbers;
    for (const std::int64_t row : rows)
      numbers.push_back(std::lower_bound(before.begin(), before.end(), row) - before.begin());
    return index_of(numbers);
  };
  Compaction compaction{numbers_among(held.running[rank()]), numbers_among(stopped[rank()]),
                        numbers_among(held.just_halted[rank()])};
  has_moved_ = false;
  if (auto moved = balanced(held.running, balance_); !moved.empty()) {
    last_move_ = make_move(held.running, moved);
    held.running = std::move(moved);
    has_moved_ = has_ever_moved_ = true;
  }
  step_ = std::make_shared<const RunningStep>(group_, std::move(held));
  return compaction;
}

/// `runs_on` [running rows of all ranks] uint8 -> [ranks]: the rows that stopped. Updates `held` and halted_
/// accordingly.
std::vector<RowNumbers> RunningExchange::stop_rows(const at::Tensor& runs_on, HeldRows& held) {
  const auto* flag = runs_on.const_data_ptr<std::uint8_t>();
  const auto sequence_of = [this](std::int64_t row) { return static_cast<std::size_t>(group_->sequence_of(row)); };
  std::vector<bool> is_live(static_cast<std::size_t>(group_->all.sequences()), false);
  std::vector<RowNumbers> stopped(held.running.size());
  for (std::size_t r = 0; r < held.running.size(); ++r) {
    RowNumbers still;
    for (const std::int64_t row : held.running[r]) (*flag++ != 0 ? still : stopped[r]).push_back(row);
    for (const std::int64_t row : still) is_live[sequence_of(row)] = true;
    held.running[r] = std::move(still);
  }
  for (std::size_t r = 0; r < stopped.size(); ++r) {
    halted_[r].insert(halted_[r].end(), stopped[r].begin(), stopped[r].end());
    RowNumbers& just_halted = held.just_halted[r];
    held.halted_before[r].insert(held.halted_before[r].end(), just_halted.begin(), just_halted.end());
    just_halted.clear();
    std::ranges::copy_if(stopped[r], std::back_inserter(just_halted),
                         [&](std::int64_t row) { return is_live[sequence_of(row)]; });
  }
  return stopped;
}

RunningExchange::Move RunningExchange::make_move(const std::vector<RowNumbers>& from,
                                                 const std::vector<RowNumbers>& to) const {
  Route route = make_route(rank(), group_->all.count(), from, to);
  const at::Tensor to_send = index_of(route.to_send);
  const at::Tensor order = index_of(argsort(route.arriving));
  return {std::move(route), to_send, order};
}

at::Tensor RunningExchange::travel(const at::Tensor& rows, const Move& move) const {
  const at::Tensor arrived = all_to_all(select_rows(rows, move.to_send), move.route.sent, move.route.received, group());
  return select_rows(arrived, move.order);
}

at::Tensor RunningExchange::move(const at::Tensor& rows) const { return has_moved_ ? travel(rows, last_move_) : rows; }

at::Tensor RunningExchange::home(const at::Tensor& halted) const {
  if (has_ever_moved_) return travel(halted, make_move(halted_, home_));
  return select_rows(halted, index_of(argsort(halted_[rank()])));
}

}  // namespace ut::dist
