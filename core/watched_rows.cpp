#include "core/watched_rows.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace ut::core {
namespace {

/// The weights of equation 1, before the values: [heads, query rows, key rows] float64. `visible` [query rows, key
/// rows] bool.
at::Tensor weights_of(const at::Tensor& query, const at::Tensor& keys_values, std::int64_t heads,
                      const at::Tensor& visible) {
  const std::int64_t d = query.size(1);
  const auto by_head = [heads](const at::Tensor& rows) {
    return rows.to(at::kDouble).reshape({rows.size(0), heads, -1}).transpose(0, 1);  // [heads, rows, d / heads]
  };
  const at::Tensor keys = keys_values.narrow(1, 0, d);
  const double scale = std::sqrt(static_cast<double>(d) / static_cast<double>(heads));
  const at::Tensor logits = at::matmul(by_head(query), by_head(keys).transpose(1, 2)) / scale;
  return at::softmax(logits.masked_fill(visible.logical_not(), -std::numeric_limits<double>::infinity()), -1);
}

class WatchedRows final : public CurrentRows {
 public:
  WatchedRows(std::shared_ptr<StackRows> rows, dist::Rows all, bool causal, const dist::Rows* memory,
              std::function<void(const SeenAttention&)> observer)
      : rows_(std::move(rows)),
        all_(std::move(all)),
        causal_(causal),
        memory_(memory),
        observer_(std::move(observer)),
        numbers_(at::arange(all_.count())),
        copied_(at::empty({0}, at::kLong)) {}

  const dist::Rows& local() const override { return rows_->step()->local(); }
  const AttentionLayout& memory_layout() const override { return *memory_layout_; }
  dist::Sent sent_kind() const override { return rows_->step()->sent_kind(); }

  at::Tensor attend(std::size_t layer, const at::Tensor& sent, const AttentionCall& call) override {
    if (layer == 0) ++step_;
    at::Tensor query;
    AttentionCall watched = call;
    watched.query = [&] { return query = call.query(); };
    const at::Tensor output = rows_->step()->attend(layer, sent, watched);
    const at::Tensor visible = visible_of(all_, causal_);
    tell(layer, false, call.heads, visible, query, keep(layer, call.keys_values(sent)), output);
    if (memory_ != nullptr) watch_memory(layer, call.heads);
    return output;
  }

  Windows windows(std::size_t layer, const at::Tensor& x, const Reach& first, const Reach& second) override {
    return rows_->step()->windows(layer, x, first, second);
  }
  at::Tensor mean_over_sequence(const at::Tensor& values) const override {
    return rows_->step()->mean_over_sequence(values);
  }

  void start_compaction(const at::Tensor& running) override { rows_->start_compaction(running); }
  dist::Compaction finish_compaction() override {
    dist::Compaction compaction = rows_->finish_compaction();
    copied_ = numbers_.index_select(0, compaction.copied.cpu());
    numbers_ = numbers_.index_select(0, compaction.still.cpu());
    return compaction;
  }
  bool any_running() const override { return rows_->any_running(); }
  at::Tensor move_with_rows(const at::Tensor& values) const override { return rows_->move_with_rows(values); }
  bool has_moved() const override { return rows_->has_moved(); }
  at::Tensor return_to_initial_rows(const at::Tensor& halted) const override {
    return rows_->return_to_initial_rows(halted);
  }

 private:
  /// Which of `keys` each local row sees. [local rows, key rows] bool
  at::Tensor visible_of(const dist::Rows& keys, bool causal) const {
    const at::Tensor same = local().sequence.unsqueeze(1).eq(keys.sequence.unsqueeze(0));
    return causal ? same.logical_and(local().position.unsqueeze(1).ge(keys.position.unsqueeze(0))) : same;
  }

  /// Keys and values of all rows as they are seen in this step. Those of running and just halted rows are `fresh`.
  at::Tensor keep(std::size_t layer, const at::Tensor& fresh) {
    if (kept_.size() <= layer) kept_.resize(layer + 1, at::zeros({all_.count(), fresh.size(1)}, fresh.options()));
    const at::Tensor numbers = at::cat({numbers_, copied_}).to(fresh.device());
    return kept_[layer] = kept_[layer].index_copy(0, numbers, fresh);
  }

  void watch_memory(std::size_t layer, std::int64_t heads) {
    memory_layout_ = rows_->step()->memory_layout().with_observer(
        [this, layer, heads](const at::Tensor& query, const at::Tensor& keys_values, const at::Tensor& output) {
          tell(layer, true, heads, visible_of(*memory_, false), query, keys_values, output);
        });
  }

  void tell(std::size_t layer, bool over_memory, std::int64_t heads, const at::Tensor& visible, const at::Tensor& query,
            const at::Tensor& keys_values, const at::Tensor& output) const {
    observer_({step_, layer, over_memory, local(), query, keys_values, output,
               weights_of(query, keys_values, heads, visible.to(query.device()))});
  }

  std::shared_ptr<StackRows> rows_;
  dist::Rows all_;
  bool causal_;
  const dist::Rows* memory_;
  std::function<void(const SeenAttention&)> observer_;
  std::int64_t step_ = 0;
  at::Tensor numbers_;                            // [local rows] int64: their numbers in all_
  at::Tensor copied_;                             // [rows] int64: numbers of those that halted in the step before
  std::vector<at::Tensor> kept_;                  // [layers][all rows, 2d]
  std::optional<AttentionLayout> memory_layout_;  // of the layer whose turn it is
};

}  // namespace

std::shared_ptr<StackRows> watch_attention(std::shared_ptr<StackRows> rows, const dist::Rows& all, bool causal,
                                           const dist::Rows* memory,
                                           std::function<void(const SeenAttention&)> observer) {
  return std::make_shared<WatchedRows>(std::move(rows), all, causal, memory, std::move(observer));
}

}  // namespace ut::core
