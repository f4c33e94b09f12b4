#include "core/stack_rows.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/key_value_store.h"

namespace ut::core {
namespace {

class WholeRows final : public StackRows {
 public:
  WholeRows(const dist::SequenceExchange& exchange, bool causal, const dist::Rows* memory)
      : exchange_(exchange), layout_(exchange.local(), exchange.all(), causal) {
    if (memory != nullptr) memory_layout_.emplace(exchange.local(), *memory, false);
  }

  const dist::Rows& local() const override { return exchange_.local(); }
  const AttentionLayout& memory_layout() const override { return *memory_layout_; }

  at::Tensor attend(std::size_t, const at::Tensor& query, const at::Tensor& keys_values,
                    const Attending& how) override {
    return layout_.attend(query, exchange_.gather(keys_values), how.heads, how.dropout_rate, how.dropout);
  }

  Windows windows(std::size_t, const at::Tensor& x, const Reach& first, const Reach& second) override {
    return {exchange_.neighbours(x, first.before, first.after), local(), [this, second](const at::Tensor& hidden) {
              return exchange_.neighbours(hidden, second.before, second.after);
            }};
  }

  at::Tensor mean_over_sequence(const at::Tensor& values) const override {
    std::vector<std::int64_t> index;
    const auto& offsets = local().offsets;
    for (std::size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence)
      index.insert(index.end(), static_cast<std::size_t>(offsets[sequence + 1] - offsets[sequence]),
                   static_cast<std::int64_t>(sequence));
    return mean_by_sequence(values, at::tensor(index, at::kLong), local().sequences(),
                            [this](const at::Tensor& mine) { return exchange_.sum(mine); });
  }

  void start_parting(const at::Tensor& running) override { any_ = exchange_.start_any(running.any().item<bool>()); }
  dist::Parting part() override {
    any_running_ = any_();
    const at::Tensor none = at::empty({0}, at::kLong);
    return {at::arange(local().count()), none, none};
  }
  bool any_running() const override { return any_running_; }
  at::Tensor move(const at::Tensor& rows) const override { return rows; }
  bool has_moved() const override { return false; }
  at::Tensor home(const at::Tensor& halted) const override { return halted; }

 private:
  const dist::SequenceExchange& exchange_;
  AttentionLayout layout_;
  std::optional<AttentionLayout> memory_layout_;
  std::function<bool()> any_;
  bool any_running_ = true;
};

class RunningRows final : public StackRows {
 public:
  RunningRows(const dist::SequenceExchange& exchange, bool causal, const dist::Rows* memory, double balance)
      : exchange_(exchange.running(balance)),
        causal_(causal),
        memory_(memory),
        longest_(dist::longest(exchange.all())) {
    lay_out();
  }

  const dist::Rows& local() const override { return exchange_->local(); }
  const AttentionLayout& memory_layout() const override { return *memory_layout_; }

  at::Tensor attend(std::size_t layer, const at::Tensor& query, const at::Tensor& keys_values,
                    const Attending& how) override {
    if (stores_.size() <= layer)
      stores_.push_back(std::make_shared<KeyValueStore>(exchange_->sequences(), longest_, how.heads));
    return stores_[layer]->attend(query, exchange_->gather(keys_values), new_slots_, sequences_, *layout_,
                                  how.dropout_rate, how.dropout);
  }

  Windows windows(std::size_t layer, const at::Tensor& x, const Reach& first, const Reach& second) override {
    if (kept_states_.size() <= layer) kept_states_.resize(layer + 1);
    return windows_over(exchange_->gather(x, kept_states_[layer]), local(), exchange_->seen(), exchange_->places(),
                        first, second);
  }

  at::Tensor mean_over_sequence(const at::Tensor& values) const override {
    return mean_by_sequence(values, exchange_->sequence_index(), exchange_->sequences(),
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
  void lay_out() {
    layout_.emplace(local(), exchange_->seen(), causal_, std::nullopt, longest_);
    sequences_ = numbers_of_local_sequences();
    new_slots_ = exchange_->places_of_sent(longest_);
    if (memory_ == nullptr) return;
    const auto* sequence = sequences_.const_data_ptr<std::int64_t>();
    const auto [rows, places] =
        dist::rows_of_sequences(*memory_, {sequence, static_cast<std::size_t>(sequences_.numel())});
    memory_layout_.emplace(local(), rows, false, places);
  }

  at::Tensor numbers_of_local_sequences() const {
    std::vector<std::int64_t> numbers;
    const auto* sequence = exchange_->sequence_index().const_data_ptr<std::int64_t>();
    for (std::int64_t index = 0; index < local().sequences(); ++index)
      numbers.push_back(sequence[local().offsets[static_cast<std::size_t>(index)]]);
    return at::tensor(numbers, at::kLong);
  }

  std::unique_ptr<dist::RunningExchange> exchange_;
  bool causal_;
  const dist::Rows* memory_;
  std::optional<AttentionLayout> layout_;
  std::optional<AttentionLayout> memory_layout_;
  std::int64_t longest_;                                // sequence of the exchange, in rows
  at::Tensor sequences_;                                // [local sequences] int64: their numbers in the exchange
  at::Tensor new_slots_;                                // [rows sent by all ranks] int64: sequence * longest_ + place
  std::vector<std::shared_ptr<KeyValueStore>> stores_;  // [layers]
  std::vector<at::Tensor> kept_states_;                 // [layers][kept rows, d]: what convolutions look at
};

}  // namespace

std::unique_ptr<StackRows> make_whole_rows(const dist::SequenceExchange& exchange, bool causal,
                                           const dist::Rows* memory) {
  return std::make_unique<WholeRows>(exchange, causal, memory);
}

std::unique_ptr<StackRows> make_running_rows(const dist::SequenceExchange& exchange, bool causal,
                                             const dist::Rows* memory, double balance) {
  return std::make_unique<RunningRows>(exchange, causal, memory, balance);
}

Windows windows_over(const at::Tensor& known, const dist::Rows& local, const dist::Rows& seen,
                     std::span<const std::int64_t> place, const Reach& first, const Reach& second) {
  const auto* position = local.position.const_data_ptr<std::int64_t>();
  const std::int64_t beyond = known.size(0);
  std::vector<std::int64_t> inner;         // numbers among the seen rows
  std::vector<std::int64_t> first_table;   // [inner rows * width of the first]: known rows
  std::vector<std::int64_t> second_table;  // [local rows * width of the second]: inner rows; -1 beyond the ends
  std::vector<std::int64_t> inner_offsets{0};
  for (std::size_t sequence = 0; sequence + 1 < local.offsets.size(); ++sequence) {
    const std::int64_t begin = seen.offsets[sequence];
    const std::int64_t length = seen.offsets[sequence + 1] - begin;
    std::vector<std::int64_t> inner_of_position(static_cast<std::size_t>(length), -1);
    std::int64_t next = 0;  // the first position that was not yet looked at
    for (auto row = local.offsets[sequence]; row < local.offsets[sequence + 1]; ++row) {
      const std::int64_t end = std::min(length, position[row] + second.after + 1);
      for (next = std::max({next, position[row] - second.before, std::int64_t{0}}); next < end; ++next) {
        inner_of_position[static_cast<std::size_t>(next)] = static_cast<std::int64_t>(inner.size());
        inner.push_back(begin + next);
        for (auto at = next - first.before; at <= next + first.after; ++at)
          first_table.push_back(at < 0 || at >= length ? beyond : place[static_cast<std::size_t>(begin + at)]);
      }
      for (auto at = position[row] - second.before; at <= position[row] + second.after; ++at)
        second_table.push_back(at < 0 || at >= length ? -1 : inner_of_position[static_cast<std::size_t>(at)]);
    }
    inner_offsets.push_back(static_cast<std::int64_t>(inner.size()));
  }
  for (auto& row : second_table)
    if (row < 0) row = static_cast<std::int64_t>(inner.size());
  const auto look = [](const at::Tensor& rows, const std::vector<std::int64_t>& table, std::int64_t width) {
    const at::Tensor zeros = at::zeros({1, rows.size(1)}, rows.options());
    const auto windows = static_cast<std::int64_t>(table.size()) / width;
    return at::cat({rows, zeros}).index_select(0, at::tensor(table, at::kLong)).view({windows, width, rows.size(1)});
  };
  const at::Tensor numbers = at::tensor(inner, at::kLong);
  return {look(known, first_table, first.width()),
          {seen.sequence.index_select(0, numbers), seen.position.index_select(0, numbers), std::move(inner_offsets)},
          [look, table = std::move(second_table), second](const at::Tensor& hidden) {
            return look(hidden, table, second.width());
          }};
}

at::Tensor mean_by_sequence(const at::Tensor& values, const at::Tensor& sequence_index, std::int64_t sequences,
                            const std::function<at::Tensor(const at::Tensor&)>& sum) {
  const at::Tensor value_and_one = at::stack({values, at::ones_like(values)}, 1);  // [rows, 2]
  const at::Tensor sums = sum(at::zeros({sequences, 2}, values.options()).index_add(0, sequence_index, value_and_one));
  const at::Tensor means = sums.select(1, 0) / sums.select(1, 1).clamp_min(1);  // [sequences]
  return means.index_select(0, sequence_index);
}

}  // namespace ut::core
