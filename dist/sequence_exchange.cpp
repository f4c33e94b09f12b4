#include "dist/sequence_exchange.h"

#include <ATen/ATen.h>

#include <map>
#include <utility>

#include "dist/differentiable.h"
#include "dist/running_exchange.h"

namespace ut::dist {
namespace {

/// What one convolution width needs from other ranks.
struct Halo {
  at::Tensor to_send;                  // [rows sent] int64: local rows, grouped by the rank they go to
  std::vector<std::int64_t> sent;      // [ranks]
  std::vector<std::int64_t> received;  // [ranks]
  at::Tensor table;                    // [local rows * width] int64: rows of (local, received, one row of zeros)
};

/// The positions of a sequence that the holder of `mine` needs but does not hold.
std::vector<std::int64_t> missing_positions(Span mine, std::int64_t length, std::int64_t before, std::int64_t after) {
  std::vector<std::int64_t> positions;
  if (mine.begin == mine.end) return positions;
  for (auto p = std::max<std::int64_t>(0, mine.begin - before); p < mine.begin; ++p) positions.push_back(p);
  for (auto p = mine.end; p < std::min(length, mine.end + after); ++p) positions.push_back(p);
  return positions;
}

class AllGatherExchange final : public SequenceExchange {
 public:
  AllGatherExchange(Sequences sequences, Communicator& group)
      : sequences_(std::move(sequences)),
        group_(group),
        local_(rows_of(sequences_, group.rank(), group.size())),
        all_(group.size() == 1 ? local_ : rows_of(sequences_, 0, 1)) {
    if (group_.size() == 1) return;
    for (int rank = 0; rank < group_.size(); ++rank) {
      std::int64_t rows = 0;
      for (const std::int64_t length : sequences_.lengths) {
        const Span part = share(length, rank, group_.size());
        rows += part.end - part.begin;
      }
      counts_.push_back(rows);
    }
    order_ = order_of_gathered_rows();
  }

  const Rows& local() const override { return local_; }
  const Rows& all() const override { return all_; }

  at::Tensor gather(const at::Tensor& rows) const override {
    if (group_.size() == 1) return rows;
    return all_gather(rows, counts_, group_).index_select(0, order_);
  }

  at::Tensor neighbours(const at::Tensor& rows, std::int64_t before, std::int64_t after) const override {
    const Halo& halo = halo_for(before, after);
    const at::Tensor outside = at::zeros({1, rows.size(1)}, rows.options());
    const at::Tensor known =
        group_.size() == 1 ? at::cat({rows, outside}) : at::cat({rows, received_rows(rows, halo), outside});
    return known.index_select(0, halo.table).view({local_.count(), before + 1 + after, rows.size(1)});
  }

  at::Tensor sum(const at::Tensor& values) const override { return all_sum(values, group_); }

  std::function<bool()> start_any(bool mine) const override {
    const std::vector<std::int64_t> one_each(static_cast<std::size_t>(group_.size()), 1);
    const at::Tensor flag = at::full({1}, mine ? 1 : 0, at::kByte);
    return
        [said = group_.start_all_gather_rows(flag, one_each, Purpose::control)] { return said().any().item<bool>(); };
  }

  std::unique_ptr<RunningExchange> running(double balance) const override {
    std::vector<std::vector<std::int64_t>> held(static_cast<std::size_t>(group_.size()));
    std::int64_t row = 0;
    for (const std::int64_t length : sequences_.lengths)
      for (std::int64_t position = 0; position < length; ++position)
        held[static_cast<std::size_t>(owner(position, length, group_.size()))].push_back(row++);
    return std::make_unique<RunningExchange>(all_, std::move(held), group_, balance);
  }

 private:
  /// Where the rows of (sequence, position) order stand when every rank's rows follow one another.
  at::Tensor order_of_gathered_rows() const {
    std::vector<std::int64_t> next{0};  // by rank: where its next row stands
    for (const std::int64_t count : counts_) next.push_back(next.back() + count);
    std::vector<std::int64_t> order;
    for (const std::int64_t length : sequences_.lengths)
      for (std::int64_t position = 0; position < length; ++position)
        order.push_back(next[static_cast<std::size_t>(owner(position, length, group_.size()))]++);
    return at::tensor(order, at::kLong);
  }

  at::Tensor received_rows(const at::Tensor& rows, const Halo& halo) const {
    return all_to_all(rows.index_select(0, halo.to_send), halo.sent, halo.received, group_);
  }

  const Halo& halo_for(std::int64_t before, std::int64_t after) const {
    const auto found = halos_.find({before, after});
    return found != halos_.end() ? found->second
                                 : halos_.emplace(std::pair{before, after}, make_halo(before, after)).first->second;
  }

  Halo make_halo(std::int64_t before, std::int64_t after) const {
    const auto ranks = static_cast<std::size_t>(group_.size());
    std::vector<std::vector<std::int64_t>> to_send(ranks);                             // [rank][rows]
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> to_receive(ranks);  // [rank][(sequence, position)]
    for (std::size_t index = 0; index < sequences_.ids.size(); ++index) {
      const std::int64_t length = sequences_.lengths[index];
      const Span mine = share(length, group_.rank(), group_.size());
      for (int rank = 0; rank < group_.size(); ++rank) {
        if (rank == group_.rank()) continue;
        for (const std::int64_t position : missing_positions(share(length, rank, group_.size()), length, before, after))
          if (position >= mine.begin && position < mine.end)
            to_send[static_cast<std::size_t>(rank)].push_back(local_.offsets[index] + position - mine.begin);
      }
      for (const std::int64_t position : missing_positions(mine, length, before, after))
        to_receive[static_cast<std::size_t>(owner(position, length, group_.size()))].emplace_back(index, position);
    }
    return {at::tensor(flat(to_send), at::kLong), sizes(to_send), sizes(to_receive),
            at::tensor(neighbour_table(to_receive, before, after), at::kLong)};
  }

  std::vector<std::int64_t> neighbour_table(
      const std::vector<std::vector<std::pair<std::size_t, std::int64_t>>>& to_receive, std::int64_t before,
      std::int64_t after) const {
    std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> place;
    std::int64_t next = local_.count();
    for (const auto& from_rank : to_receive)
      for (const auto& row : from_rank) place[row] = next++;
    const std::int64_t outside = next;
    std::vector<std::int64_t> table;
    for (std::size_t index = 0; index < sequences_.ids.size(); ++index) {
      const std::int64_t length = sequences_.lengths[index];
      const Span mine = share(length, group_.rank(), group_.size());
      for (auto position = mine.begin; position < mine.end; ++position)
        for (auto at = position - before; at <= position + after; ++at) {
          const bool is_mine = at >= mine.begin && at < mine.end;
          table.push_back(at < 0 || at >= length ? outside
                          : is_mine              ? local_.offsets[index] + at - mine.begin
                                                 : place.at({index, at}));
        }
    }
    return table;
  }

  static std::vector<std::int64_t> flat(const std::vector<std::vector<std::int64_t>>& parts) {
    std::vector<std::int64_t> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  template <class Part>
  static std::vector<std::int64_t> sizes(const std::vector<Part>& parts) {
    std::vector<std::int64_t> counts;
    for (const auto& part : parts) counts.push_back(static_cast<std::int64_t>(part.size()));
    return counts;
  }

  Sequences sequences_;
  Communicator& group_;
  Rows local_;
  Rows all_;
  std::vector<std::int64_t> counts_;  // [ranks]: rows held; empty on one rank
  at::Tensor order_;                  // [all rows] int64; undefined on one rank
  mutable std::map<std::pair<std::int64_t, std::int64_t>, Halo> halos_;
};

}  // namespace

std::shared_ptr<const SequenceExchange> make_all_gather_exchange(const Sequences& sequences, Communicator& group) {
  return std::make_shared<AllGatherExchange>(sequences, group);
}

}  // namespace ut::dist
