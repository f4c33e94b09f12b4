#include "dist/running_exchange.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "dist/balanced_rows.h"
#include "dist/crossing.h"
#include "dist/differentiable.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"
#include "dist/to_host.h"

namespace ut::dist {
namespace {

/// The places of these numbers, in the numbers' order.
std::vector<std::int64_t> places_in_order(const std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> places(numbers.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::sort(places, {}, [&](std::int64_t place) { return numbers[static_cast<std::size_t>(place)]; });
  return places;
}

/// The identities of the rows with these numbers, which ascend; sequences without any are left out.
Rows rows_numbered(const Rows& all, const std::vector<std::int64_t>& numbers,
                   const std::vector<std::int64_t>& sequence_of_row) {
  const at::Tensor index = at::tensor(numbers, at::kLong);
  Rows rows{all.sequence.index_select(0, index), all.position.index_select(0, index), {0}};
  for (std::size_t row = 1; row <= numbers.size(); ++row)
    if (row == numbers.size() || sequence_of_row[static_cast<std::size_t>(numbers[row])] !=
                                     sequence_of_row[static_cast<std::size_t>(numbers[row - 1])])
      rows.offsets.push_back(static_cast<std::int64_t>(row));
  return rows;
}

}  // namespace

RunningExchange::RunningExchange(Rows all, std::vector<RowNumbers> held, Communicator& group, ExchangeForm form,
                                 double balance)
    : all_(std::move(all)),
      sequence_of_row_(sequence_numbers(all_)),
      group_(group),
      form_(form),
      balance_(balance),
      home_(std::move(held)),
      held_{home_, std::vector<RowNumbers>(home_.size()), std::vector<RowNumbers>(home_.size())},
      halted_(home_.size()),
      neighbours_(all_.offsets, group_) {
  count_rows_to_send();
  find_local_rows();
}

at::Tensor RunningExchange::index_of(const RowNumbers& numbers) const { return on_device(numbers, group_.device()); }

Arriving RunningExchange::start_gather(const at::Tensor& rows) const {
  return start_gather_rows(rows, counts_, form_, group_);
}

at::Tensor RunningExchange::numbers_of_sent() const {
  RowNumbers numbers;
  for (std::size_t r = 0; r < held_.running.size(); ++r)
    for (const RowNumbers* rows : {&held_.running[r], &held_.copied[r]})
      numbers.insert(numbers.end(), rows->begin(), rows->end());
  return index_of(numbers);
}

RunningOfAll RunningExchange::running_of_all() const {
  RunningOfAll result;
  RowNumbers rows;
  for (const RowNumbers& held : held_.running) {
    result.counts.push_back(static_cast<std::int64_t>(held.size()));
    rows.insert(rows.end(), held.begin(), held.end());
  }
  result.order = index_of(places_in_order(rows));
  std::ranges::sort(rows);
  RowNumbers seen;
  RowNumbers sequences;
  for (const std::int64_t row : rows) {
    const auto sequence = static_cast<std::size_t>(sequence_of_row_[static_cast<std::size_t>(row)]);
    if (!sequences.empty() && std::cmp_equal(sequences.back(), sequence)) continue;
    sequences.push_back(static_cast<std::int64_t>(sequence));
    for (auto other = all_.offsets[sequence]; other < all_.offsets[sequence + 1]; ++other) seen.push_back(other);
  }
  result.rows = rows_numbered(all_, rows, sequence_of_row_);
  result.seen = rows_numbered(all_, seen, sequence_of_row_);
  result.sequence = std::move(sequences);
  return result;
}

at::Tensor RunningExchange::sum(const at::Tensor& values) const { return all_sum(values, group_); }

bool RunningExchange::any() const {
  return std::ranges::any_of(held_.running, [](const RowNumbers& rows) { return !rows.empty(); });
}

void RunningExchange::start_parting(const at::Tensor& running) {
  std::vector<std::int64_t> counts;
  for (const RowNumbers& rows : held_.running) counts.push_back(static_cast<std::int64_t>(rows.size()));
  const auto tell = [this, counts](const at::Tensor& flags) {
    return group_.start_all_gather_rows(flags, counts, Purpose::control);
  };
  const at::Tensor flags = running.to(at::kByte);
  // Whoever waited for a device here could not give it the step's work meanwhile.
  flags_ = flags.is_cpu() ? tell(flags) : [tell, copy = start_to_host(flags)] { return tell(copy())(); };
}

Parting RunningExchange::part() {
  const RowNumbers before = held_.running[rank()];
  const std::vector<RowNumbers> stopped = stop_rows(flags_());
  const auto numbers_among = [this, &before](const RowNumbers& rows) {
    RowNumbers numbers;
    for (const std::int64_t row : rows)
      numbers.push_back(std::lower_bound(before.begin(), before.end(), row) - before.begin());
    return index_of(numbers);
  };
  Parting parting{numbers_among(held_.running[rank()]), numbers_among(stopped[rank()]),
                  numbers_among(held_.copied[rank()])};
  has_moved_ = false;
  if (auto moved = balanced(held_.running, balance_); !moved.empty()) {
    last_move_ = make_move(held_.running, moved);
    held_.running = std::move(moved);
    has_moved_ = has_ever_moved_ = true;
  }
  neighbours_.end_step();
  count_rows_to_send();
  find_local_rows();
  return parting;
}

/// `runs_on` [running rows of all ranks] uint8 -> [ranks]: those that stopped. The books say so from then on.
std::vector<RowNumbers> RunningExchange::stop_rows(const at::Tensor& runs_on) {
  const auto* flag = runs_on.const_data_ptr<std::uint8_t>();
  const auto sequence_of = [this](std::int64_t row) {
    return static_cast<std::size_t>(sequence_of_row_[static_cast<std::size_t>(row)]);
  };
  std::vector<bool> is_live(static_cast<std::size_t>(sequences()), false);
  std::vector<RowNumbers> stopped(held_.running.size());
  for (std::size_t r = 0; r < held_.running.size(); ++r) {
    RowNumbers still;
    for (const std::int64_t row : held_.running[r]) (*flag++ != 0 ? still : stopped[r]).push_back(row);
    for (const std::int64_t row : still) is_live[sequence_of(row)] = true;
    held_.running[r] = std::move(still);
  }
  for (std::size_t r = 0; r < stopped.size(); ++r) {
    halted_[r].insert(halted_[r].end(), stopped[r].begin(), stopped[r].end());
    RowNumbers& copied = held_.copied[r];
    held_.kept[r].insert(held_.kept[r].end(), copied.begin(), copied.end());
    copied.clear();
    std::ranges::copy_if(stopped[r], std::back_inserter(copied),
                         [&](std::int64_t row) { return is_live[sequence_of(row)]; });
  }
  return stopped;
}

RunningExchange::Move RunningExchange::make_move(const std::vector<RowNumbers>& from,
                                                 const std::vector<RowNumbers>& to) const {
  Route route = make_route(rank(), all_.count(), from, to);
  const at::Tensor to_send = index_of(route.to_send);
  const at::Tensor order = index_of(places_in_order(route.arriving));
  return {std::move(route), to_send, order};
}

at::Tensor RunningExchange::travel(const at::Tensor& rows, const Move& move) const {
  const at::Tensor arrived = all_to_all(select_rows(rows, move.to_send), move.route.sent, move.route.received, group_);
  return select_rows(arrived, move.order);
}

at::Tensor RunningExchange::move(const at::Tensor& rows) const { return has_moved_ ? travel(rows, last_move_) : rows; }

at::Tensor RunningExchange::home(const at::Tensor& halted) const {
  if (has_ever_moved_) return travel(halted, make_move(halted_, home_));
  return select_rows(halted, index_of(places_in_order(halted_[rank()])));
}

void RunningExchange::count_rows_to_send() {
  counts_.clear();
  for (std::size_t r = 0; r < held_.running.size(); ++r)
    counts_.push_back(std::ssize(held_.running[r]) + std::ssize(held_.copied[r]));
}

void RunningExchange::find_local_rows() {
  const RowNumbers& mine = held_.running[rank()];
  local_ = rows_numbered(all_, mine, sequence_of_row_);
  std::vector<std::int64_t>& index = sequence_index_;
  index.clear();
  seen_numbers_.clear();
  for (const std::int64_t row : mine) {
    const std::int64_t sequence = sequence_of_row_[static_cast<std::size_t>(row)];
    if (index.empty() || index.back() != sequence)
      for (auto other = all_.offsets[static_cast<std::size_t>(sequence)];
           other < all_.offsets[static_cast<std::size_t>(sequence) + 1]; ++other)
        seen_numbers_.push_back(other);
    index.push_back(sequence);
  }
  seen_ = rows_numbered(all_, seen_numbers_, sequence_of_row_);
}

}  // namespace ut::dist
