#include "core/block.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <fmt/format.h>

#include "core/add_dropped.h"
#include "core/recompute.h"

namespace ut::core {

at::Tensor RowSignal::sum() const { return position + step; }

Layer::Layer(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder)
    : self_attention(parameters, name + ".self_attention", options),
      self_attention_norm(parameters, name + ".self_attention.norm", options.d_model),
      transition_norm(parameters, name + ".transition.norm", options.d_model) {
  if (decoder && options.architecture != Architecture::decoder) {
    cross_attention.emplace(parameters, name + ".cross_attention", options);
    cross_attention_norm.emplace(parameters, name + ".cross_attention.norm", options.d_model);
  }
  transition = make_transition(parameters, name + ".transition", options, decoder);
}

Block::Block(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder)
    : options_(options), decoder_(decoder) {
  for (std::int64_t layer = 0; layer < options.block_layers; ++layer)
    layers_.emplace_back(parameters, fmt::format("{}.layer{}", name, layer), options, decoder);
}

template <class SubLayer>
at::Tensor Block::around(const LayerNorm& norm, const at::Tensor& x, const at::Tensor& input, const at::Tensor& copied,
                         Site site, const dist::Rows& local, const DropoutKey& key, const SubLayer& f) const {
  const bool pre = options_.norm == Norm::pre;
  const at::Tensor revised = f(pre ? norm(input) : input, pre && copied.defined() ? norm(copied) : copied);
  const DropoutKey here = key.with_site(site);
  return pre ? add_dropped(x, revised, options_.residual_dropout, here, local)
             : norm.of_sum(x, revised, options_.residual_dropout, here, local);
}

AttentionSite Block::attention_site(const DropoutKey& key, Site site) const {
  return {options_.heads, options_.attention_dropout, key.with_site(site), options_.recompute != Recompute::none};
}

at::Tensor Block::attend_to_self(std::size_t layer, const at::Tensor& input, const at::Tensor& copied, StackRows& rows,
                                 const DropoutKey& key) const {
  const SelfAttention& attention = layers_[layer].self_attention;
  Attending how{attention_site(key, Site::self_attention_weights), [&] { return attention.queries(input); }, {}};
  const at::Tensor seen = copied.defined() ? at::cat({input, copied}) : input;
  const auto keys_values = [&attention](const at::Tensor& x) { return attention.keys_values(x); };
  const bool sends_states = rows.sent() == dist::Sent::states;
  if (sends_states) how.project = keys_values;
  const at::Tensor sent = sends_states ? seen : keys_values(seen);
  return attention.combine(rows.attend(layer, sent, how));
}

at::Tensor Block::attend_to_memory(std::size_t layer, const at::Tensor& input, const at::Tensor& keys_values,
                                   const AttentionLayout& layout, const DropoutKey& key) const {
  const CrossAttention& attention = *layers_[layer].cross_attention;
  return attention.combine(
      layout.attend(attention.queries(input), keys_values, attention_site(key, Site::cross_attention_weights)));
}

at::Tensor Block::step(const at::Tensor& state, const RowSignal& signal, StackRows& rows,
                       const std::vector<at::Tensor>& memory, const DropoutKey& dropout, const Copied* copied) const {
  RECORD_USER_SCOPE(decoder_ ? "decoder step" : "encoder step");
  const bool signal_stays = options_.residual == Residual::signal_in;
  at::Tensor input = state + signal.sum();  // what the first attention of the step sees
  at::Tensor x = signal_stays ? input : state;
  at::Tensor copied_input = copied != nullptr ? copied->state + copied->signal : at::Tensor();
  const at::Tensor copied_x = copied == nullptr || signal_stays ? copied_input : copied->state;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const DropoutKey key = dropout.with_layer(index);
    x = around(
        layers_[index].self_attention_norm, x, input, copied_input, Site::self_attention_output, rows.local(), key,
        [&](const at::Tensor& in, const at::Tensor& copies) { return attend_to_self(index, in, copies, rows, key); });
    x = after_self_attention(index, x, copied_x, rows, memory, key);
    input = x;
    copied_input = copied_x;
  }
  return x;
}

at::Tensor Block::after_self_attention(std::size_t index, const at::Tensor& x, const at::Tensor& copied,
                                       StackRows& rows, const std::vector<at::Tensor>& memory,
                                       const DropoutKey& key) const {
  const Layer& layer = layers_[index];
  std::optional<AttentionLayout> over_memory;  // rows leave, and then these are others
  if (layer.cross_attention) over_memory = rows.memory_layout();
  const bool sees_neighbours = layer.transition->sees_neighbours();
  const at::Tensor neighbours = sees_neighbours ? copied : at::Tensor();
  const auto attend = [this, &layer, index, local = rows.local(), over_memory, key](const std::vector<at::Tensor>& in) {
    return around(*layer.cross_attention_norm, in[0], in[0], {}, Site::cross_attention_output, local, key,
                  [&](const at::Tensor& queries, const at::Tensor&) {
                    return attend_to_memory(index, queries, in[1], *over_memory, key);
                  });
  };
  const auto revise = [this, &layer, index, neighbours, local = rows.local(), all = rows.shared_from_this(),
                       key](const at::Tensor& y) {
    return around(layer.transition_norm, y, y, neighbours, Site::transition_output, local, key,
                  [&](const at::Tensor& revised, const at::Tensor& copies) {
                    return layer.transition->forward(revised, copies, local, *all, index, key);
                  });
  };
  const auto rest = [over_memory, attend, revise](const std::vector<at::Tensor>& in) {
    return revise(over_memory ? attend(in) : in[0]);
  };
  std::vector<at::Tensor> inputs{x};
  if (over_memory) inputs.push_back(memory[index]);
  const bool again = options_.recompute == Recompute::step && !rows.can_repeat();
  if (!again) return rest(inputs);
  // Who sees neighbours hears of them but once, and makes the rest again itself.
  return !sees_neighbours ? recomputed(inputs, rest) : revise(over_memory ? recomputed(inputs, attend) : x);
}

Memory Block::remember(const at::Tensor& encoded, const dist::SequenceExchange& source) const {
  Memory memory{{}, source.all()};
  const bool of_states = source.holdings().options.sent == dist::Sent::states;
  const at::Tensor all = of_states ? source.gather(encoded) : at::Tensor();
  for (const Layer& layer : layers_) {
    const CrossAttention& attention = *layer.cross_attention;
    memory.keys_values.push_back(of_states ? attention.keys_values(all)
                                           : source.gather(attention.keys_values(encoded)));
  }
  return memory;
}

}  // namespace ut::core
