#include "core/key_value_store.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "dist/differentiable.h"
#include "dist/exact.h"
#include "dist/select_rows.h"

namespace ut::core {

void KeyValueStore::put(const Step& step) { dist::copy_rows(rows_, step.slot, step.fresh, {}); }

at::Tensor KeyValueStore::attend(const at::Tensor& query, const at::Tensor& fresh, const at::Tensor& slot,
                                 const AttentionLayout& layout, const AttentionSite& site) {
  Step step{fresh.detach().contiguous(), slot};
  if (!rows_.defined()) rows_ = at::zeros({slots_, fresh.size(1)}, step.fresh.options());
  put(step);
  const Attended attended = layout.attend_once(query, rows_, site);
  if (!query.requires_grad() && !fresh.requires_grad()) return attended.output;
  current_ = steps_.size();
  steps_.push_back(std::move(step));
  return dist::with_backward(attended.output, {query, fresh},
                             [store = shared_from_this(), current = current_, attended](const at::Tensor& gradient) {
                               return store->go_back(current, attended, gradient);
                             });
}

/// Steps go back in reverse, as each depends on the one before: the rows that were new in the step after were all new
/// in this one too. Otherwise all steps so far are done again. The gradient of what a step has put in is complete then;
/// before it, other values stood there.
std::vector<at::Tensor> KeyValueStore::go_back(std::size_t step, const Attended& attended, const at::Tensor& gradient) {
  if (current_ != step)
    for (std::size_t past = current_ == step + 1 ? step : 0; past <= step; ++past) put(steps_[past]);
  current_ = step;
  if (!gradients_.defined()) gradients_ = at::zeros_like(dist::exact(rows_));
  const at::Tensor of_query = attended.go_back(gradient, gradients_);
  const at::Tensor& slot = steps_[step].slot;
  const at::Tensor of_fresh = gradients_.index_select(0, slot).to(rows_.scalar_type());
  gradients_.index_fill_(0, slot, 0);
  return {of_query, of_fresh};
}

}  // namespace ut::core
