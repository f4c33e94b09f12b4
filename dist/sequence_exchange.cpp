#include "dist/sequence_exchange.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <utility>

#include "dist/crossing.h"
#include "dist/differentiable.h"
#include "dist/on_device.h"
#include "dist/running_exchange.h"
#include "dist/select_rows.h"

namespace ut::dist {
namespace {

using RowNumbers = std::vector<std::int64_t>;

/// What one convolution width needs from other ranks.
struct Halo {
  at::Tensor to_send;   // [rows sent] int64: local rows, grouped by the rank they go to
  RowNumbers sent;      // [ranks]
  RowNumbers received;  // [ranks]
  at::Tensor table;     // [local rows, width] int64: rows of (local, received), or -1
};

class CutExchange final : public SequenceExchange {
 public:
  CutExchange(const Sequences& sequences, Communicator& group, ExchangeOptions options)
      : local_(rows_of(sequences, group.rank(), group.size(), options.cut)), all_(rows_of(sequences, 0, 1)) {
    if (group.size() == 1) options.form = ExchangeForm::all_gather;
    holdings_ = {sequences, &group, options, {}, {}};
    number_rows();
  }

  const Rows& local() const override { return local_; }
  const Rows& all() const override { return all_; }
  const Holdings& holdings() const override { return holdings_; }

  Arriving start_gather(const at::Tensor& rows) const override {
    if (group().size() == 1) return [rows] { return rows; };
    return [coming = start_gather_rows(rows, holdings_.counts, holdings_.options.form, group()),
            order = holdings_.order] { return select_rows(coming(), order); };
  }

  Neighbours neighbours(const at::Tensor& rows, std::int64_t before, std::int64_t after) const override {
    const Halo& halo = halo_for(before, after);
    if (group().size() == 1) return {rows, {}, halo.table};
    return {rows, all_to_all(rows.index_select(0, halo.to_send), halo.sent, halo.received, group()), halo.table};
  }

  at::Tensor sum(const at::Tensor& values) const override { return all_sum(values, group()); }

  std::function<bool()> start_any(bool mine) const override {
    const RowNumbers one_each(ranks(), 1);
    const at::Tensor flag = at::full({1}, mine ? 1 : 0, at::kByte);
    return
        [said = group().start_all_gather_rows(flag, one_each, Purpose::control)] { return said().any().item<bool>(); };
  }

  std::unique_ptr<RunningExchange> running(double balance) const override {
    std::vector<RowNumbers> held(ranks());
    for (std::size_t row = 0; row < holder_.size(); ++row) held[holder_[row]].push_back(static_cast<std::int64_t>(row));
    return std::make_unique<RunningExchange>(all_, std::move(held), group(), holdings_.options.form, balance);
  }

 private:
  Communicator& group() const { return *holdings_.group; }
  std::size_t ranks() const { return static_cast<std::size_t>(group().size()); }

  /// Rows are numbered as in all_. Who holds which, and where among his.
  void number_rows() {
    RowNumbers& counts = holdings_.counts;
    counts.assign(ranks(), 0);
    for (const std::int64_t length : holdings_.sequences.lengths)
      for (std::int64_t position = 0; position < length; ++position) {
        holder_.push_back(static_cast<std::size_t>(owner(position, length, group().size(), holdings_.options.cut)));
        place_.push_back(counts[holder_.back()]++);
      }
    RowNumbers begins{0};
    for (const std::int64_t count : counts) begins.push_back(begins.back() + count);
    RowNumbers order;
    for (std::size_t row = 0; row < holder_.size(); ++row) order.push_back(begins[holder_[row]] + place_[row]);
    holdings_.order = on_device(order, group().device());
  }

  const Halo& halo_for(std::int64_t before, std::int64_t after) const {
    const auto found = halos_.find({before, after});
    return found != halos_.end() ? found->second
                                 : halos_.emplace(std::pair{before, after}, make_halo(before, after)).first->second;
  }

  Halo make_halo(std::int64_t before, std::int64_t after) const {
    const auto mine = static_cast<std::size_t>(group().rank());
    Halo halo;
    RowNumbers to_send;
    std::map<std::int64_t, std::int64_t> place;  // of a received row among the local and the received
    const std::vector<RowNumbers> missing = missing_rows(before, after);
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      halo.sent.push_back(std::ranges::count(missing[rank], mine, [&](auto row) { return holder_of(row); }));
      halo.received.push_back(std::ranges::count(missing[mine], rank, [&](auto row) { return holder_of(row); }));
      for (const std::int64_t row : missing[rank])
        if (holder_of(row) == mine) to_send.push_back(place_of(row));
      for (const std::int64_t row : missing[mine])
        if (holder_of(row) == rank) place.emplace(row, local_.count() + static_cast<std::int64_t>(place.size()));
    }
    halo.to_send = on_device(to_send, group().device());
    halo.table = on_device(neighbour_table(place, before, after), group().device()).view({-1, before + 1 + after});
    return halo;
  }

  /// For each rank the rows beside its own that it needs and does not hold, ascending.
  std::vector<RowNumbers> missing_rows(std::int64_t before, std::int64_t after) const {
    std::vector<RowNumbers> missing(ranks());
    for (std::size_t index = 0; index + 1 < all_.offsets.size(); ++index)
      for (auto row = all_.offsets[index]; row < all_.offsets[index + 1]; ++row) {
        const auto begin = std::max(all_.offsets[index], row - after);
        const auto end = std::min(all_.offsets[index + 1], row + before + 1);
        for (auto seen_from = begin; seen_from < end; ++seen_from) {
          RowNumbers& of_rank = missing[holder_of(seen_from)];
          if (holder_of(seen_from) != holder_of(row) && (of_rank.empty() || of_rank.back() != row))
            of_rank.push_back(row);
        }
      }
    return missing;
  }

  RowNumbers neighbour_table(const std::map<std::int64_t, std::int64_t>& received_place, std::int64_t before,
                             std::int64_t after) const {
    const auto mine = static_cast<std::size_t>(group().rank());
    RowNumbers table;
    for (std::size_t index = 0; index + 1 < all_.offsets.size(); ++index)
      for (auto row = all_.offsets[index]; row < all_.offsets[index + 1]; ++row) {
        if (holder_of(row) != mine) continue;
        for (auto at = row - before; at <= row + after; ++at) {
          const bool is_outside = at < all_.offsets[index] || at >= all_.offsets[index + 1];
          table.push_back(is_outside ? -1 : holder_of(at) == mine ? place_of(at) : received_place.at(at));
        }
      }
    return table;
  }

  std::size_t holder_of(std::int64_t row) const { return holder_[static_cast<std::size_t>(row)]; }
  std::int64_t place_of(std::int64_t row) const { return place_[static_cast<std::size_t>(row)]; }

  Rows local_;
  Rows all_;
  Holdings holdings_;
  std::vector<std::size_t> holder_;  // [all rows]: rank
  RowNumbers place_;                 // [all rows]: among its holder's
  mutable std::map<std::pair<std::int64_t, std::int64_t>, Halo> halos_;
};

}  // namespace

std::shared_ptr<const SequenceExchange> make_exchange(const Sequences& sequences, Communicator& group,
                                                      const ExchangeOptions& options) {
  return std::make_shared<CutExchange>(sequences, group, options);
}

}  // namespace ut::dist
