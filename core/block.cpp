#include "core/block.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <fmt/format.h>

#include "core/kernels/add_dropped.h"

namespace ut::core {

Layer::Layer(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder)
    : self_attention(Attention::over_self(parameters, name + ".self_attention", options)),
      self_attention_norm(parameters, name + ".self_attention.norm", options.d_model),
      transition_norm(parameters, name + ".transition.norm", options.d_model) {
  if (decoder && options.has_encoder()) {
    cross_attention = Attention::over_memory(parameters, name + ".cross_attention", options);
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
at::Tensor Block::with_residual_and_norm(const LayerNorm& norm, const at::Tensor& x, const SubLayerInput& input,
                                         Site site, const dist::Rows& local, const DropoutKey& key,
                                         const SubLayer& f) const {
  const DropoutKey here = key.with_site(site);
  if (options_.norm == Norm::post) return norm.of_sum(x, f(input), options_.residual_dropout, here, local);
  const SubLayerInput normalised{norm(input.rows), input.copied.defined() ? norm(input.copied) : at::Tensor()};
  return add_dropped(x, f(normalised), options_.residual_dropout, here, local);
}

AttentionSite Block::attention_site(const DropoutKey& key, Site site) const {
  return {options_.heads, options_.attention_dropout, key.with_site(site), options_.recompute != Recompute::none};
}

at::Tensor Block::attend_to_self(std::size_t layer, const SubLayerInput& input, StepRows& rows,
                                 const DropoutKey& key) const {
  const Attention& attention = layers_[layer].self_attention;
  AttentionCall call{
      attention_site(key, Site::self_attention_weights), [&] { return attention.queries(input.rows); }, {}};
  const at::Tensor seen = input.copied.defined() ? at::cat({input.rows, input.copied}) : input.rows;
  const auto keys_values = [&attention](const at::Tensor& x) { return attention.keys_values(x); };
  const bool sends_states = rows.sent_kind() == dist::Sent::states;
  if (sends_states) call.project = keys_values;
  const at::Tensor sent = sends_states ? attention.to_product_type(seen) : keys_values(seen);
  return attention.combine(rows.attend(layer, sent, call));
}

at::Tensor Block::attend_to_memory(std::size_t layer, const at::Tensor& input, const at::Tensor& keys_values,
                                   const AttentionLayout& layout, const DropoutKey& key) const {
  const Attention& attention = *layers_[layer].cross_attention;
  return attention.combine(
      layout.attend(attention.queries(input), keys_values, attention_site(key, Site::cross_attention_weights)));
}

at::Tensor Block::step(const at::Tensor& state, const at::Tensor& with_signals, StepRows& rows,
                       const std::vector<at::Tensor>& memory, const DropoutKey& dropout,
                       const NewlyHalted& copied) const {
  RECORD_USER_SCOPE(decoder_ ? "decoder step" : "encoder step");
  const bool signal_stays = options_.residual == Residual::signal_in;
  SubLayerInput input{with_signals};  // what the first attention of the step sees
  if (copied.state.defined()) input.copied = copied.state + copied.signal;
  at::Tensor x = signal_stays ? input.rows : state;
  const at::Tensor copied_x = signal_stays ? input.copied : copied.state;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const DropoutKey key = dropout.with_layer(index);
    x = with_residual_and_norm(layer.self_attention_norm, x, input, Site::self_attention_output, rows.local(), key,
                               [&](const SubLayerInput& in) { return attend_to_self(index, in, rows, key); });
    if (layer.cross_attention)
      x = with_residual_and_norm(*layer.cross_attention_norm, x, {x}, Site::cross_attention_output, rows.local(), key,
                                 [&](const SubLayerInput& in) {
                                   return attend_to_memory(index, in.rows, memory[index], rows.memory_layout(), key);
                                 });
    x = with_residual_and_norm(
        layer.transition_norm, x, {x, copied_x}, Site::transition_output, rows.local(), key,
        [&](const SubLayerInput& in) { return layer.transition->forward(in.rows, in.copied, rows, index, key); });
    input = {x, copied_x};
  }
  return x;
}

Memory Block::remember(const at::Tensor& encoded, const dist::SequenceExchange& source) const {
  Memory memory{{}, source.all()};
  const bool of_states = source.holdings().options.sent == dist::Sent::states;
  // In the states' type, whatever that of products: the gradients of all layers add up in it.
  const at::Tensor all = of_states ? source.gather(encoded) : at::Tensor();
  for (const Layer& layer : layers_) {
    const Attention& attention = *layer.cross_attention;
    memory.keys_values.push_back(of_states ? attention.keys_values(all)
                                           : source.gather(attention.keys_values(encoded)));
  }
  return memory;
}

}  // namespace ut::core
