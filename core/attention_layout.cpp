#include "core/attention_layout.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "dist/accumulation_type.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// A function that returns what `make` gives, made at the first call: a mask can take more memory than all else.
template <class Make>
auto when_needed(const Make& make) {
  using Made = std::invoke_result_t<Make>;
  return [make, made = std::make_shared<Made>()] {
    if (!*made) *made = make();
    return *made;
  };
}

}  // namespace

AttentionLayout::AttentionLayout(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                                 const KeyRows& key_rows) {
  if (device.is_cpu()) {
    std::shared_ptr<const RowSpans> spans = row_spans(queries, keys, causal, key_rows);
    if (spans) spans_ = [spans = std::move(spans)] { return spans; };
    if (spans_) return;
  }
  if (device.is_cuda()) {
    if (fits_varlen(queries, keys, causal))
      varlen_ =
          when_needed([=] { return std::make_shared<const VarlenAttention>(queries, keys, causal, device, key_rows); });
    spans_ = when_needed([=] { return row_spans(queries, keys, causal, key_rows, device); });
  }
  slots_ =
      when_needed([=] { return std::make_shared<const SlottedAttention>(queries, keys, causal, device, key_rows); });
}

VarlenKernel AttentionLayout::kernel_for(const at::Tensor& query, const AttentionSite& site) const {
  if (!varlen_) return VarlenKernel::none;
  return varlen_kernel(query.device(), query.scalar_type(), query.size(1) / site.heads,
                       site.dropout.active && site.dropout_rate > 0);
}

std::shared_ptr<const RowSpans> AttentionLayout::spans_for(const at::Tensor& query, const AttentionSite& site) const {
  if (!spans_ || kernel_for(query, site) != VarlenKernel::none) return nullptr;
  return has_row_attention(query.device(), query.scalar_type(), query.size(1) / site.heads) ? spans_() : nullptr;
}

at::Tensor AttentionLayout::attend_by_library(const at::Tensor& query, const at::Tensor& keys_values,
                                              const AttentionSite& site) const {
  const VarlenKernel kernel = kernel_for(query, site);
  return kernel == VarlenKernel::none ? slots_()->attend(query, keys_values, site)
                                      : varlen_()->attend(query, keys_values, site.heads, kernel);
}

AttentionLayout AttentionLayout::with_observer(AttentionObserver observer) const {
  AttentionLayout layout = *this;
  layout.observer_ = std::move(observer);
  return layout;
}

at::Tensor AttentionLayout::attend(const at::Tensor& query, const at::Tensor& keys_values,
                                   const AttentionSite& site) const {
  const at::Tensor output = attend_unobserved(query, keys_values, site);
  if (observer_) observer_(query, keys_values, output);
  return output;
}

at::Tensor AttentionLayout::attend_unobserved(const at::Tensor& query, const at::Tensor& keys_values,
                                              const AttentionSite& site) const {
  const bool keeps_weights = kernel_for(query, site) == VarlenKernel::none;
  if (!spans_for(query, site) && !(site.recomputed && keeps_weights))
    return attend_by_library(query, keys_values, site);
  const GraphlessAttention attention = attend_without_graph(query, keys_values, site);
  return dist::with_backward(
      attention.output, {query, keys_values},
      [backward = attention.backward, type = keys_values.scalar_type()](const at::Tensor& gradient) {
        at::Tensor of_keys_values;
        const at::Tensor of_query = backward(gradient, of_keys_values);
        return std::vector<at::Tensor>{of_query, of_keys_values.to(type)};
      });
}

GraphlessAttention AttentionLayout::attend_without_graph(const at::Tensor& query, const at::Tensor& keys_values,
                                                         const AttentionSite& site) const {
  const at::NoGradGuard no_graph;
  const at::Tensor q = query.detach();
  const at::Tensor kv = keys_values.detach();
  if (const auto spans = spans_for(query, site)) {
    RowAttention attention(q, site);
    attention.attend_to(kv, *spans);
    return {attention.output(), [=](const at::Tensor& gradient, at::Tensor& of_keys_values) {
              at::Tensor of_query;
              attention.backward(gradient, kv, *spans, of_query, of_keys_values);
              return of_query.to(q.scalar_type());
            }};
  }
  return {attend_by_library(q, kv, site), [=, layout = *this](const at::Tensor& gradient, at::Tensor& of_keys_values) {
            const at::AutoGradMode graph(true);
            const std::vector<at::Tensor> inputs{q.detach().requires_grad_(), kv.detach().requires_grad_()};
            const auto gradients =
                torch::autograd::grad({layout.attend_by_library(inputs[0], inputs[1], site)}, inputs, {gradient});
            const at::NoGradGuard no_more;
            if (of_keys_values.defined())
              of_keys_values.add_(gradients[1]);
            else
              of_keys_values = dist::in_accumulation_type(gradients[1]);
            return gradients[0];
          }};
}

}  // namespace ut::core
