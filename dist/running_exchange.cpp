#include "dist/running_exchange.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/span.h"
#include "dist/crossing.h"
#include "dist/differentiable.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"
#include "dist/to_host.h"

namespace ut::dist {
namespace {

std::int64_t total(const std::vector<std::vector<std::int64_t>>& parts) {
  std::int64_t rows = 0;
  for (const auto& part : parts) rows += static_cast<std::int64_t>(part.size());
  return rows;
}

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
      home_(held),
      running_(std::move(held)),
      copied_(running_.size()),
      halted_(running_.size()),
      kept_(running_.size()),
      given_(running_.size()) {
  count_rows_to_send();
  find_local_rows();
}

at::Tensor RunningExchange::index_of(const RowNumbers& numbers) const { return on_device(numbers, group_.device()); }

Arriving RunningExchange::start_gather(const at::Tensor& rows) const {
  return start_gather_rows(rows, counts_, form_, group_);
}

at::Tensor RunningExchange::numbers_of_sent() const {
  RowNumbers numbers;
  for (std::size_t r = 0; r < running_.size(); ++r)
    for (const RowNumbers* rows : {&running_[r], &copied_[r]})
      numbers.insert(numbers.end(), rows->begin(), rows->end());
  return index_of(numbers);
}

KnownRows RunningExchange::neighbours(const at::Tensor& rows, KeptRows& kept, std::int64_t before, std::int64_t after) {
  if (!neighbourhood_) find_neighbours(before, after);
  const auto with = [](const at::Tensor& some, const at::Tensor& more) {
    return some.defined() ? at::cat({some, more}) : more;
  };
  const at::Tensor mine = kept.own.defined() ? at::cat({rows, kept.own}) : rows;
  const Route& route = neighbourhood_->route;
  const at::Tensor come = all_to_all(mine.index_select(0, neighbourhood_->to_send), route.sent, route.received, group_);
  std::vector<at::Tensor> parts{mine, come};
  if (kept.of_others.defined()) parts.push_back(kept.of_others);
  const auto running = std::ssize(running_[rank()]);
  if (rows.size(0) > running) kept.own = with(kept.own, rows.narrow(0, running, rows.size(0) - running));
  if (neighbourhood_->halted.numel() > 0)
    kept.of_others = with(kept.of_others, select_rows(come, neighbourhood_->halted));
  return {at::cat(parts), neighbourhood_->places};
}

void RunningExchange::find_neighbours(std::int64_t before, std::int64_t after) {
  std::vector<RowNumbers> has = running_;
  std::vector<RowNumbers> needs;
  std::vector<bool> is_halted(sequence_of_row_.size(), false);
  const auto add = [](RowNumbers& rows, const RowNumbers& more) { rows.insert(rows.end(), more.begin(), more.end()); };
  for (std::size_t r = 0; r < has.size(); ++r) {
    for (const RowNumbers* halted : {&std::as_const(copied_[r]), &std::as_const(kept_[r])}) {
      for (const std::int64_t row : *halted) is_halted[static_cast<std::size_t>(row)] = true;
      add(has[r], *halted);
    }
    std::vector<bool> is_there(sequence_of_row_.size(), false);
    for (const RowNumbers* rows : {&std::as_const(has[r]), &std::as_const(given_[r])})
      for (const std::int64_t row : *rows) is_there[static_cast<std::size_t>(row)] = true;
    RowNumbers& missing = needs.emplace_back(rows_beside(running_[r], all_.offsets, before, after));
    std::erase_if(missing, [&](std::int64_t row) { return is_there[static_cast<std::size_t>(row)]; });
  }
  neighbourhood_.emplace();
  neighbourhood_->route = make_route(rank(), all_.count(), has, needs);
  const RowNumbers& arriving = neighbourhood_->route.arriving;

  RowNumbers known = has[rank()];
  add(known, arriving);
  add(known, given_[rank()]);
  std::vector<std::int64_t> place_of_row(sequence_of_row_.size(), -1);
  for (std::size_t place = 0; place < known.size(); ++place)
    place_of_row[static_cast<std::size_t>(known[place])] = static_cast<std::int64_t>(place);
  for (const std::int64_t row : seen_numbers_)
    neighbourhood_->places.push_back(place_of_row[static_cast<std::size_t>(row)]);

  std::vector<std::int64_t> halted;
  for (std::size_t index = 0; index < arriving.size(); ++index)
    if (is_halted[static_cast<std::size_t>(arriving[index])]) halted.push_back(static_cast<std::int64_t>(index));
  neighbourhood_->halted = index_of(halted);
  neighbourhood_->to_send = index_of(neighbourhood_->route.to_send);
  const auto halted_among = [&](RowNumbers rows) {
    std::erase_if(rows, [&](std::int64_t row) { return !is_halted[static_cast<std::size_t>(row)]; });
    return rows;
  };
  for (std::size_t r = 0; r < needs.size(); ++r) add(given_[r], halted_among(r == rank() ? arriving : needs[r]));
}

RunningOfAll RunningExchange::running_of_all() const {
  RunningOfAll result;
  RowNumbers rows;
  for (const RowNumbers& held : running_) {
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

bool RunningExchange::any() const { return total(running_) > 0; }

void RunningExchange::start_parting(const at::Tensor& running) {
  std::vector<std::int64_t> counts;
  for (const RowNumbers& rows : running_) counts.push_back(static_cast<std::int64_t>(rows.size()));
  const auto tell = [this, counts](const at::Tensor& flags) {
    return group_.start_all_gather_rows(flags, counts, Purpose::control);
  };
  const at::Tensor flags = running.to(at::kByte);
  // Whoever waited for a device here could not give it the step's work meanwhile.
  flags_ = flags.is_cpu() ? tell(flags) : [tell, copy = start_to_host(flags)] { return tell(copy())(); };
}

Parting RunningExchange::part() {
  const at::Tensor flags = flags_();
  const auto* runs_on = flags.const_data_ptr<std::uint8_t>();
  neighbourhood_.reset();
  std::vector<bool> is_live(static_cast<std::size_t>(sequences()), false);
  std::vector<RowNumbers> stopped(running_.size());
  const RowNumbers before = running_[rank()];
  for (std::size_t r = 0; r < running_.size(); ++r) {
    RowNumbers still;
    for (const std::int64_t row : running_[r]) (*runs_on++ != 0 ? still : stopped[r]).push_back(row);
    running_[r] = std::move(still);
    for (const std::int64_t row : running_[r])
      is_live[static_cast<std::size_t>(sequence_of_row_[static_cast<std::size_t>(row)])] = true;
  }
  for (std::size_t r = 0; r < running_.size(); ++r) {
    halted_[r].insert(halted_[r].end(), stopped[r].begin(), stopped[r].end());
    kept_[r].insert(kept_[r].end(), copied_[r].begin(), copied_[r].end());
    copied_[r].clear();
    for (const std::int64_t row : stopped[r])
      if (is_live[static_cast<std::size_t>(sequence_of_row_[static_cast<std::size_t>(row)])]) copied_[r].push_back(row);
  }
  const auto numbers_among = [this, &before](const RowNumbers& rows) {
    RowNumbers numbers;
    for (const std::int64_t row : rows)
      numbers.push_back(std::lower_bound(before.begin(), before.end(), row) - before.begin());
    return index_of(numbers);
  };
  Parting parting{numbers_among(running_[rank()]), numbers_among(stopped[rank()]), numbers_among(copied_[rank()])};
  has_moved_ = false;
  if (auto moved = balanced(); !moved.empty()) {
    last_move_ = make_move(running_, moved);
    running_ = std::move(moved);
    has_moved_ = has_ever_moved_ = true;
  }
  count_rows_to_send();
  find_local_rows();
  return parting;
}

/// Who would hold which running rows if every rank had as many, with as few moving as that takes; empty where the
/// present holdings will do.
std::vector<RowNumbers> RunningExchange::balanced() const {
  const auto ranks = static_cast<std::int64_t>(running_.size());
  const std::int64_t rows = total(running_);
  std::int64_t most = 0;
  for (const RowNumbers& held : running_) most = std::max(most, static_cast<std::int64_t>(held.size()));
  const bool as_even_as_can_be = most * ranks < rows + ranks;
  if (balance_ == 0 || as_even_as_can_be || static_cast<double>(most * ranks) <= balance_ * static_cast<double>(rows))
    return {};
  const auto quota = [&](std::size_t r) {
    const base::Span part = base::share(rows, static_cast<int>(r), static_cast<int>(ranks));
    return static_cast<std::size_t>(part.end - part.begin);
  };
  std::vector<RowNumbers> result = running_;
  RowNumbers spare;
  for (std::size_t r = 0; r < result.size(); ++r)
    for (; result[r].size() > quota(r); result[r].pop_back()) spare.push_back(result[r].back());
  for (std::size_t r = 0; r < result.size(); ++r) {
    for (; result[r].size() < quota(r); spare.pop_back()) result[r].push_back(spare.back());
    std::ranges::sort(result[r]);
  }
  return result;
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
  for (std::size_t r = 0; r < running_.size(); ++r) counts_.push_back(std::ssize(running_[r]) + std::ssize(copied_[r]));
}

void RunningExchange::find_local_rows() {
  const RowNumbers& mine = running_[rank()];
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
