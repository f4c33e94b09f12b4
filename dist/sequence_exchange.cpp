#include "dist/sequence_exchange.h"

#include <ATen/ATen.h>

#include <map>
#include <utility>

#include "dist/differentiable.h"
#include "dist/on_device.h"
#include "dist/route.h"
#include "dist/running_exchange.h"
#include "dist/select_rows.h"
#include "dist/split_gather.h"

namespace ut::dist {
namespace {

/// What one convolution width needs from other ranks.
struct Halo {
  at::Tensor to_send;                  // [rows sent] int64: local rows, grouped by the rank they go to
  std::vector<std::int64_t> sent;      // [ranks]
  std::vector<std::int64_t> received;  // [ranks]
  at::Tensor table;                    // [local rows, width] int64: places in (local, received) rows, or -1
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

  PendingTensor start_gather(const at::Tensor& rows) const override {
    if (group().size() == 1) return [rows] { return rows; };
    return [coming = start_gather_rows(rows, holdings_.counts, holdings_.options.form, group()),
            order = holdings_.order] { return select_rows(coming(), order); };
  }

  Neighbours neighbours(const at::Tensor& rows, std::int64_t before, std::int64_t after) const override {
    const Halo& halo = halo_for(before, after);
    if (group().size() == 1) return {rows, {}, halo.table};
    const at::Tensor out = differentiable(
        rows, [&](const at::Tensor& all) { return all.index_select(0, halo.to_send); },
        [index = halo.to_send, parts = halo.sent, sizes = rows.sizes().vec()](const at::Tensor& gradient) {
          at::Tensor of_rows = at::zeros(sizes, gradient.options());
          add_rows(of_rows, index, gradient, parts);
          return of_rows;
        });
    return {rows, all_to_all(out, halo.sent, halo.received, group()), halo.table};
  }

  std::function<bool()> start_any(bool mine) const override {
    const std::vector<std::int64_t> one_each(ranks(), 1);
    const at::Tensor flag = at::full({1}, mine ? 1 : 0, at::kByte);
    return
        [said = group().start_all_gather_rows(flag, one_each, Purpose::control)] { return said().any().item<bool>(); };
  }

  std::unique_ptr<RunningExchange> running(double balance) const override {
    return std::make_unique<RunningExchange>(all_, held(), group(), holdings_.options.form, balance);
  }

 private:
  Communicator& group() const { return *holdings_.group; }
  std::size_t ranks() const { return static_cast<std::size_t>(group().size()); }

  /// Finds out who holds each row, numbered as in all_, and at which place among that rank's rows.
  void number_rows() {
    std::vector<std::int64_t>& counts = holdings_.counts;
    counts.assign(ranks(), 0);
    const Sequences& sequences = holdings_.sequences;
    for (std::size_t number = 0; number < sequences.ids.size(); ++number)
      for (std::int64_t position = 0; position < sequences.lengths[number]; ++position) {
        const int rank =
            owner(sequences.ids[number], position, sequences.lengths[number], group().size(), holdings_.options.cut);
        holder_.push_back(static_cast<std::size_t>(rank));
        place_.push_back(counts[holder_.back()]++);
      }
    std::vector<std::int64_t> begins{0};
    for (const std::int64_t count : counts) begins.push_back(begins.back() + count);
    std::vector<std::int64_t> order;
    for (std::size_t row = 0; row < holder_.size(); ++row) order.push_back(begins[holder_[row]] + place_[row]);
    holdings_.order = on_device(order, group().device());
  }

  const Halo& halo_for(std::int64_t before, std::int64_t after) const {
    const auto found = halos_.find({before, after});
    return found != halos_.end() ? found->second
                                 : halos_.emplace(std::pair{before, after}, make_halo(before, after)).first->second;
  }

  /// The numbers of each rank's rows, ascending.
  std::vector<RowNumbers> held() const {
    std::vector<RowNumbers> held(ranks());
    for (std::size_t row = 0; row < holder_.size(); ++row) held[holder_[row]].push_back(static_cast<std::int64_t>(row));
    return held;
  }

  Halo make_halo(std::int64_t before, std::int64_t after) const {
    const std::vector<RowNumbers> has = held();
    std::vector<RowNumbers> needs;
    for (const RowNumbers& rows : has) needs.push_back(rows_beside(rows, all_.offsets, before, after));
    const Route route = make_route(static_cast<std::size_t>(group().rank()), all_.count(), has, needs);
    std::map<std::int64_t, std::int64_t> place;  // of a received row, counted after the local ones
    for (const std::int64_t row : route.arriving)
      place.emplace(row, local_.count() + static_cast<std::int64_t>(place.size()));
    const at::Device device = group().device();
    return {on_device(route.to_send, device), route.sent, route.received,
            on_device(neighbour_table(place, before, after), device).view({-1, before + 1 + after})};
  }

  std::vector<std::int64_t> neighbour_table(const std::map<std::int64_t, std::int64_t>& received_place,
                                            std::int64_t before, std::int64_t after) const {
    const auto mine = static_cast<std::size_t>(group().rank());
    std::vector<std::int64_t> table;
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
  std::vector<std::int64_t> place_;  // [all rows]: place among its holder's
  mutable std::map<std::pair<std::int64_t, std::int64_t>, Halo> halos_;
};

}  // namespace

std::shared_ptr<const SequenceExchange> make_exchange(const Sequences& sequences, Communicator& group,
                                                      const ExchangeOptions& options) {
  return std::make_shared<CutExchange>(sequences, group, options);
}

}  // namespace ut::dist
