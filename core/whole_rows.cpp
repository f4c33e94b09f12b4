#include "core/whole_rows.h"

#include <ATen/ATen.h>

#include <optional>

#include "core/exchanged_attention.h"
#include "core/mean_by_sequence.h"
#include "dist/on_device.h"
#include "dist/to_host.h"

namespace ut::core {
namespace {

class WholeRows final : public CurrentRows {
 public:
  WholeRows(const dist::SequenceExchange& exchange, bool causal, const dist::Rows* memory, const HeadKind& head)
      : exchange_(exchange), attention_(make_exchanged_attention(exchange, causal, head)) {
    if (memory != nullptr) memory_layout_.emplace(exchange.local(), *memory, false, device());
  }

  const dist::Rows& local() const override { return exchange_.local(); }
  const AttentionLayout& memory_layout() const override { return *memory_layout_; }

  dist::Sent sent_kind() const override { return exchange_.holdings().options.sent; }

  at::Tensor attend(std::size_t, const at::Tensor& sent, const AttentionCall& call) override {
    return attention_->attend(sent, call);
  }

  Windows windows(std::size_t, const at::Tensor& x, const Reach& first, const Reach& second) override {
    return {exchange_.neighbours(x, first.before, first.after), local(), [this, second](const at::Tensor& hidden) {
              return exchange_.neighbours(hidden, second.before, second.after);
            }};
  }

  at::Tensor mean_over_sequence(const at::Tensor& values) const override {
    const at::Tensor sequence = dist::on_device(dist::sequence_numbers(local()), device());
    return mean_by_sequence(values, sequence, local().sequences(), *exchange_.holdings().group);
  }

  void start_compaction(const at::Tensor& running) override {
    const at::Tensor mine = running.any();
    const auto tell = [this](const at::Tensor& flag) { return exchange_.start_any(flag.item<bool>()); };
    any_ = mine.is_cpu() ? tell(mine) : [tell, copy = dist::start_to_host(mine)] { return tell(copy())(); };
  }
  dist::Compaction finish_compaction() override {
    any_running_ = any_();
    const auto options = at::TensorOptions(at::kLong).device(device());
    const at::Tensor none = at::empty({0}, options);
    return {at::arange(local().count(), options), none, none};
  }
  bool any_running() const override { return any_running_; }
  at::Tensor move_with_rows(const at::Tensor& values) const override { return values; }
  bool has_moved() const override { return false; }
  at::Tensor return_to_initial_rows(const at::Tensor& halted) const override { return halted; }

 private:
  at::Device device() const { return exchange_.holdings().group->device(); }

  const dist::SequenceExchange& exchange_;
  std::unique_ptr<ExchangedAttention> attention_;
  std::optional<AttentionLayout> memory_layout_;
  std::function<bool()> any_;
  bool any_running_ = true;
};

}  // namespace

std::shared_ptr<StackRows> make_whole_rows(const dist::SequenceExchange& exchange, bool causal,
                                           const dist::Rows* memory, const HeadKind& head) {
  return std::make_shared<WholeRows>(exchange, causal, memory, head);
}

}  // namespace ut::core
