#include "core/running_rows.h"

#include <ATen/ATen.h>

#include <optional>
#include <utility>

#include "core/key_value_store.h"
#include "core/mean_by_sequence.h"
#include "dist/heads.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

/// What a layer keeps from step to step, halted rows included.
struct LayerStores {
  std::shared_ptr<KeyValueStore> keys_values;
  std::shared_ptr<dist::RowStore> states;  // what convolutions look at
};

/// What all steps of a stack have in common.
struct StackContext {
  LayerStores& of(std::size_t layer) {
    while (layers.size() <= layer)
      layers.push_back({std::make_shared<KeyValueStore>(slots), std::make_shared<dist::RowStore>(slots)});
    return layers[layer];
  }

  bool causal;
  dist::Sent sent;
  const dist::Rows* memory;
  std::int64_t slots;  // as many as all sequences have rows; each row's slot is its number
  std::vector<LayerStores> layers;
};

class RunningStepRows final : public StepRows {
 public:
  RunningStepRows(std::shared_ptr<const dist::RunningStep> step, std::int64_t number,
                  std::shared_ptr<StackContext> kept)
      : step_(std::move(step)), number_(number), kept_(std::move(kept)), new_slots_(step_->numbers_of_sent()) {
    if (by_heads()) {
      running_ = step_->running_of_all();
      place_of_running_ = dist::inverse_permutation(running_.order);
    }
    const dist::RunningRowSet& attending = by_heads() ? running_ : step_->local();
    layout_.emplace(attending.rows, attending.seen, kept_->causal, device(), attending.seen_numbers);
    if (kept_->memory == nullptr) return;
    const auto [rows, places] = dist::rows_of_sequences(*kept_->memory, step_->local().sequences);
    memory_layout_.emplace(local(), rows, false, device(), places);
  }

  const dist::Rows& local() const override { return step_->local().rows; }
  const AttentionLayout& memory_layout() const override { return *memory_layout_; }
  dist::Sent sent_kind() const override { return kept_->sent; }

  at::Tensor attend(std::size_t layer, const at::Tensor& sent, const AttentionCall& call) override {
    if (by_heads()) return attend_by_heads(layer, call.query(), call.keys_values(sent), call);
    const dist::PendingTensor coming = step_->start_gather(sent);
    const at::Tensor query = call.query();
    return attend_to_kept(layer, query, call.keys_values(coming()), call);
  }

  Windows windows(std::size_t layer, const at::Tensor& x, const Reach& first, const Reach& second) override {
    const dist::KnownRows known =
        step_->neighbours(x, kept_->of(layer).states, first.before + second.before, first.after + second.after);
    const dist::RunningRowSet& mine = step_->local();
    return windows_over(known, device(), mine.rows, mine.seen, mine.seen_numbers, first, second);
  }

  at::Tensor mean_over_sequence(const at::Tensor& values) const override {
    return mean_by_sequence(values, dist::on_device(step_->sequence_index(), device()), step_->sequences(),
                            step_->group());
  }

 private:
  bool by_heads() const { return step_->form() == dist::ExchangeForm::heads; }
  at::Device device() const { return step_->group().device(); }

  at::Tensor attend_to_kept(std::size_t layer, const at::Tensor& query, const at::Tensor& fresh,
                            const AttentionSite& site) const {
    return kept_->of(layer).keys_values->attend(number_, query, fresh, new_slots_, *layout_, site);
  }

  /// This rank keeps keys and values of some heads, and attends in these with the queries of all ranks.
  at::Tensor attend_by_heads(std::size_t layer, const at::Tensor& query, const at::Tensor& keys_values,
                             const AttentionCall& call) const {
    dist::Communicator& group = step_->group();
    const base::Span mine = dist::my_heads(call.heads, group);
    const at::Tensor queries = dist::to_heads(query, 1, call.heads, running_.counts, group);
    const at::Tensor fresh = dist::to_heads(keys_values, 2, call.heads, step_->sent_counts(), group);
    const at::Tensor seen =
        attend_to_kept(layer, dist::select_rows(queries, running_.order), fresh,
                       {mine.end - mine.begin, call.dropout_rate, call.dropout.with_first_head(mine.begin)});
    return dist::from_heads(dist::select_rows(seen, place_of_running_), call.heads, running_.counts, group);
  }

  std::shared_ptr<const dist::RunningStep> step_;
  std::int64_t number_;
  std::shared_ptr<StackContext> kept_;
  at::Tensor new_slots_;  // [rows sent by all ranks] int64
  std::optional<AttentionLayout> layout_;
  std::optional<AttentionLayout> memory_layout_;
  dist::RunningOfAll running_;   // only if ranks share the heads
  at::Tensor place_of_running_;  // [running rows of all] int64: the inverse of running_.order; only then
};

class RunningRows final : public StackRows {
 public:
  RunningRows(const dist::SequenceExchange& exchange, bool causal, const dist::Rows* memory, double balance)
      : exchange_(exchange.running(balance)),
        kept_(std::make_shared<StackContext>(
            StackContext{causal, exchange.holdings().options.sent, memory, exchange.all().count(), {}})) {
    begin_step();
  }

  std::shared_ptr<StepRows> step() override { return step_; }
  void start_compaction(const at::Tensor& running) override { exchange_->start_compaction(running); }
  dist::Compaction finish_compaction() override {
    dist::Compaction compaction = exchange_->finish_compaction();
    begin_step();
    return compaction;
  }
  bool any_running() const override { return exchange_->any(); }
  at::Tensor move_with_rows(const at::Tensor& values) const override { return exchange_->move(values); }
  bool has_moved() const override { return exchange_->has_moved(); }
  at::Tensor return_to_initial_rows(const at::Tensor& halted) const override { return exchange_->home(halted); }

 private:
  void begin_step() { step_ = std::make_shared<RunningStepRows>(exchange_->step(), ++steps_, kept_); }

  std::unique_ptr<dist::RunningExchange> exchange_;
  std::shared_ptr<StackContext> kept_;
  std::int64_t steps_ = 0;
  std::shared_ptr<StepRows> step_;
};

}  // namespace

std::shared_ptr<StackRows> make_running_rows(const dist::SequenceExchange& exchange, bool causal,
                                             const dist::Rows* memory, double balance) {
  return std::make_shared<RunningRows>(exchange, causal, memory, balance);
}

}  // namespace ut::core
