#include "core/key_value_store.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "core/products.h"
#include "dist/select_rows.h"

namespace ut::core {

/// The derivative of one step's attention. They are called in reverse, as each step depends on the one before.
class KeyValueStore::StepBackward final : public torch::autograd::Node {
 public:
  std::shared_ptr<KeyValueStore> store;
  std::size_t step = 0;
  at::Tensor query;    // [sequences * heads, query slots, d / heads]
  at::Tensor weights;  // [sequences * heads, query slots, slots], before dropout
  at::Tensor part;     // [sequences * heads] int64: of the store's; undefined: all of them
  Step new_rows;
  AttentionLayout layout;
  double dropout_rate = 0;
  DropoutKey dropout;

  explicit StepBackward(const AttentionLayout& of_queries) : layout(of_queries) {}

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const at::NoGradGuard no_graph;
    store->go_back_to(step);
    const at::Tensor output = gradients[0].defined() ? gradients[0] : at::zeros_like(query);
    const auto drop = [&](const at::Tensor& of_weights) {
      return layout.drop(of_weights, store->heads_, dropout_rate, dropout);
    };
    const at::Tensor keys = part_of(store->keys_);
    const at::Tensor weight = drop(for_statistics(at::bmm(output, part_of(store->values_).transpose(1, 2))));
    const at::Tensor logit =
        at::_softmax_backward_data(weight, weights, -1, weights.scalar_type()).to(keys.scalar_type());
    add(store->value_gradients_, drop(weights).to(keys.scalar_type()).transpose(1, 2), output);
    add(store->key_gradients_, logit.transpose(1, 2), query);
    return {at::bmm(logit, keys), store->take_gradient(store->steps_[step])};
  }
  std::string name() const override { return "KeyValueStoreStepBackward"; }

  at::Tensor part_of(const at::Tensor& all) const { return part.defined() ? all.index_select(0, part) : all; }

 private:
  /// all += a b, of the sequences that took part.
  void add(at::Tensor& all, const at::Tensor& a, const at::Tensor& b) const {
    if (!all.defined()) all = at::zeros_like(for_statistics(store->keys_));
    if (part.defined())
      all.index_add_(0, part, at::bmm(a, b).to(all.scalar_type()));
    else if (a.scalar_type() == all.scalar_type())
      all.baddbmm_(a, b);
    else
      all.add_(at::bmm(a, b));
  }
};

KeyValueStore::KeyValueStore(std::int64_t sequences, std::int64_t slots, std::int64_t heads)
    : sequences_(sequences), slots_(slots), heads_(heads) {}

void KeyValueStore::put(const Step& step) {
  const at::Tensor by_head = step.fresh.view({step.fresh.size(0) * 2 * heads_, keys_.size(2)});
  dist::copy_rows(keys_, step.to, by_head, step.key);
  dist::copy_rows(values_, step.to, by_head, step.value);
}

/// From the step after, whose new rows were all new in this step too; or from anywhere, by all steps so far.
void KeyValueStore::go_back_to(std::size_t step) {
  if (current_ == step) return;
  for (std::size_t past = current_ == step + 1 ? step : 0; past <= step; ++past) put(steps_[past]);
  current_ = step;
}

/// The gradient of what a step has put in; before it, other values stood there.
at::Tensor KeyValueStore::take_gradient(const Step& step) {
  at::Tensor gradient = at::empty_like(step.fresh, key_gradients_.scalar_type());
  at::Tensor by_head = gradient.view({step.fresh.size(0) * 2 * heads_, keys_.size(2)});
  for (const auto& [all, from] : {std::pair{&key_gradients_, &step.key}, {&value_gradients_, &step.value}}) {
    const at::Tensor rows = all->flatten(0, 1);
    dist::copy_rows(by_head, *from, rows, step.to);
    rows.index_fill_(0, step.to, 0);
  }
  return gradient.to(step.fresh.scalar_type());
}

at::Tensor KeyValueStore::attend(const at::Tensor& query, const at::Tensor& fresh, const at::Tensor& slot,
                                 const at::Tensor& sequence, const AttentionLayout& layout, double dropout_rate,
                                 const DropoutKey& dropout) {
  const at::Tensor by_head = layout.queries_by_head(query, heads_);
  auto node = std::make_shared<StepBackward>(layout);
  at::Tensor output;
  {
    const at::NoGradGuard no_graph;
    if (!keys_.defined()) {
      keys_ = at::zeros({sequences_ * heads_, slots_, fresh.size(1) / (2 * heads_)}, fresh.options());
      values_ = at::zeros_like(keys_);
    }
    const at::Tensor head = at::arange(heads_, slot.options());
    const at::Tensor row = at::arange(fresh.size(0), slot.options());
    const at::Tensor key = (row.unsqueeze(1) * (2 * heads_) + head).flatten();
    node->new_rows = Step{fresh.detach().contiguous(), heads_in_slots(slot, slots_, heads_), key, key + heads_};
    put(node->new_rows);
    if (sequence.size(0) < sequences_) node->part = (sequence.unsqueeze(1) * heads_ + head).flatten();
    node->query = by_head.detach();
    node->weights = layout.weights(at::bmm(node->query, node->part_of(keys_).transpose(1, 2)), heads_);
    const at::Tensor dropped = layout.drop(node->weights, heads_, dropout_rate, dropout);
    output = at::bmm(dropped.to(values_.scalar_type()), node->part_of(values_));
  }
  if (torch::autograd::compute_requires_grad(by_head, fresh)) {
    node->store = shared_from_this();
    node->step = steps_.size();
    node->dropout_rate = dropout_rate;
    node->dropout = dropout;
    current_ = node->step;
    steps_.push_back(std::move(node->new_rows));
    node->set_next_edges(torch::autograd::collect_next_edges(by_head, fresh));
    torch::autograd::create_gradient_edge(output, std::move(node));
  }
  return layout.rows_of_heads(output, heads_);
}

}  // namespace ut::core
