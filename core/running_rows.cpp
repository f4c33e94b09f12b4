#include <ATen/ATen.h>

#include <optional>
#include <utility>

#include "core/key_value_store.h"
#include "core/stack_rows.h"
#include "dist/heads.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

class RunningRows final : public StackRows {
 public:
  RunningRows(const dist::SequenceExchange& exchange, bool causal, const dist::Rows* memory, double balance)
      : exchange_(exchange.running(balance)),
        sent_(exchange.holdings().options.sent),
        causal_(causal),
        memory_(memory),
        first_row_(exchange.all().offsets) {
    lay_out();
  }

  const dist::Rows& local() const override { return exchange_->local(); }
  const AttentionLayout& memory_layout() const override { return *memory_layout_; }

  bool can_repeat() const override { return false; }
  dist::Sent sent() const override { return sent_; }

  at::Tensor attend(std::size_t layer, const at::Tensor& sent, const Attending& how) override {
    if (by_heads()) return attend_by_heads(layer, how.query(), how.keys_values(sent), how);
    const dist::Arriving coming = exchange_->start_gather(sent);
    const at::Tensor query = how.query();
    return store(layer).attend(query, how.keys_values(coming()), new_slots_, *layout_, how);
  }

  Windows windows(std::size_t layer, const at::Tensor& x, const Reach& first, const Reach& second) override {
    if (kept_states_.size() <= layer) kept_states_.resize(layer + 1);
    const std::int64_t before = first.before + second.before;
    const std::int64_t after = first.after + second.after;
    const dist::KnownRows known = exchange_->neighbours(x, kept_states_[layer], before, after);
    return windows_over(known.rows, local(), exchange_->seen(), known.places, first, second);
  }

  at::Tensor mean_over_sequence(const at::Tensor& values) const override {
    return mean_by_sequence(values, index_of(exchange_->sequence_index()), exchange_->sequences(),
                            [this](const at::Tensor& mine) { return exchange_->sum(mine); });
  }

  void start_parting(const at::Tensor& running) override { exchange_->start_parting(running); }
  dist::Parting part() override {
    dist::Parting parting = exchange_->part();
    lay_out();
    return parting;
  }
  bool any_running() const override { return exchange_->any(); }
  at::Tensor move(const at::Tensor& rows) const override { return exchange_->move(rows); }
  bool has_moved() const override { return exchange_->has_moved(); }
  at::Tensor home(const at::Tensor& halted) const override { return exchange_->home(halted); }

 private:
  bool by_heads() const { return exchange_->form() == dist::ExchangeForm::heads; }

  KeyValueStore& store(std::size_t layer) {
    if (stores_.size() <= layer) stores_.push_back(std::make_shared<KeyValueStore>(first_row_.back()));
    return *stores_[layer];
  }

  /// This rank keeps keys and values of some heads, and sees to the queries of all ranks in these.
  at::Tensor attend_by_heads(std::size_t layer, const at::Tensor& query, const at::Tensor& keys_values,
                             const Attending& how) {
    dist::Communicator& group = exchange_->group();
    const base::Span mine = dist::my_heads(how.heads, group);
    const std::int64_t heads = mine.end - mine.begin;
    const std::int64_t columns = query.size(1) / how.heads;
    const at::Tensor queries = dist::to_heads(query.reshape({-1, how.heads, columns}), running_.counts, group);
    const at::Tensor fresh =
        dist::to_heads(heads_of_keys_values(keys_values, how.heads), exchange_->sent_counts(), group);
    const at::Tensor seen =
        store(layer).attend(dist::select_rows(queries.flatten(1), running_.order), keys_values_of_heads(fresh),
                            new_slots_, *layout_, {heads, how.dropout_rate, how.dropout.with_first_head(mine.begin)});
    const at::Tensor by_rank = dist::select_rows(seen, place_of_running_).view({-1, heads, columns});
    return dist::from_heads(by_rank, how.heads, running_.counts, group).reshape(query.sizes());
  }

  void lay_out() {
    if (by_heads()) {
      running_ = exchange_->running_of_all();
      place_of_running_ = running_.order.argsort();
      layout_.emplace(running_.rows, running_.seen, causal_, device(), slots_of(running_.seen, running_.sequence));
    } else {
      const auto slots = slots_of(exchange_->seen(), numbers_of_local_sequences());
      layout_.emplace(local(), exchange_->seen(), causal_, device(), slots);
    }
    new_slots_ = exchange_->numbers_of_sent();
    if (memory_ == nullptr) return;
    const auto [rows, places] = dist::rows_of_sequences(*memory_, numbers_of_local_sequences());
    memory_layout_.emplace(local(), rows, false, device(), places);
  }

  /// Where a store keeps `rows`, all of the sequences with these numbers: at their numbers in the whole batch.
  std::vector<std::int64_t> slots_of(const dist::Rows& rows, const std::vector<std::int64_t>& sequences) const {
    std::vector<std::int64_t> slots;
    for (std::size_t index = 0; index < sequences.size(); ++index)
      for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
        slots.push_back(first_row_[static_cast<std::size_t>(sequences[index])] + row - rows.offsets[index]);
    return slots;
  }

  std::vector<std::int64_t> numbers_of_local_sequences() const {
    std::vector<std::int64_t> numbers;
    for (std::size_t index = 0; index + 1 < local().offsets.size(); ++index)
      numbers.push_back(exchange_->sequence_index()[static_cast<std::size_t>(local().offsets[index])]);
    return numbers;
  }

  at::Device device() const { return exchange_->group().device(); }
  at::Tensor index_of(const std::vector<std::int64_t>& numbers) const { return dist::on_device(numbers, device()); }

  std::unique_ptr<dist::RunningExchange> exchange_;
  dist::Sent sent_;
  bool causal_;
  const dist::Rows* memory_;
  std::optional<AttentionLayout> layout_;
  std::optional<AttentionLayout> memory_layout_;
  std::vector<std::int64_t> first_row_;                 // [sequences + 1]
  dist::RunningOfAll running_;                          // where ranks share the heads
  at::Tensor place_of_running_;                         // [running rows of all] int64: where order has each, then
  at::Tensor new_slots_;                                // [rows sent by all ranks] int64
  std::vector<std::shared_ptr<KeyValueStore>> stores_;  // [layers]
  std::vector<dist::KeptRows> kept_states_;             // [layers]: what convolutions look at
};

}  // namespace

std::shared_ptr<StackRows> make_running_rows(const dist::SequenceExchange& exchange, bool causal,
                                             const dist::Rows* memory, double balance) {
  return std::make_shared<RunningRows>(exchange, causal, memory, balance);
}

}  // namespace ut::core
