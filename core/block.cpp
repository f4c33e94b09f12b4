#include "core/block.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace ut::core {

Layer::Layer(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder)
    : self_attention(parameters, name + ".self_attention", options),
      self_attention_norm(parameters, name + ".self_attention.norm", options.d_model),
      transition_norm(parameters, name + ".transition.norm", options.d_model) {
  if (decoder) {
    cross_attention.emplace(parameters, name + ".cross_attention", options);
    cross_attention_norm.emplace(parameters, name + ".cross_attention.norm", options.d_model);
  }
  transition = make_transition(parameters, name + ".transition", options, decoder);
}

Block::Block(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder)
    : options_(options) {
  for (std::int64_t layer = 0; layer < options.block_layers; ++layer)
    layers_.emplace_back(parameters, fmt::format("{}.layer{}", name, layer), options, decoder);
}

template <class SubLayer>
at::Tensor Block::around(const LayerNorm& norm, const at::Tensor& x, const at::Tensor& input, Site site,
                         const StackRows& rows, const DropoutKey& key, const SubLayer& f) const {
  const bool pre = options_.norm == Norm::pre;
  const at::Tensor revised =
      dropout(f(pre ? norm(input) : input), options_.residual_dropout, key.with_site(site), rows.exchange.local());
  return pre ? x + revised : norm(x + revised);
}

at::Tensor Block::attend_to_self(const Layer& layer, const at::Tensor& input, const StackRows& rows,
                                 const DropoutKey& key) const {
  const auto [queries, keys_values] = layer.self_attention.project(input);
  const auto all = rows.exchange.gather(keys_values).chunk(2, 1);  // keys and values [all rows, d]
  return layer.self_attention.combine(rows.layout.attend(queries, all[0], all[1], options_.heads,
                                                         options_.attention_dropout,
                                                         key.with_site(Site::self_attention_weights)));
}

at::Tensor Block::attend_to_memory(const Layer& layer, const at::Tensor& input, const at::Tensor& keys_values,
                                   const Memory& memory, const DropoutKey& key) const {
  const auto all = keys_values.chunk(2, 1);
  return layer.cross_attention->combine(memory.layout.attend(layer.cross_attention->queries(input), all[0], all[1],
                                                             options_.heads, options_.attention_dropout,
                                                             key.with_site(Site::cross_attention_weights)));
}

at::Tensor Block::step(const at::Tensor& state, const at::Tensor& signal, const StackRows& rows, const Memory* memory,
                       const DropoutKey& dropout) const {
  at::Tensor x = state;
  at::Tensor input = x + signal;  // what the first attention of the step sees
  if (options_.residual == Residual::signal_in) x = input;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const DropoutKey key = dropout.with_layer(index);
    x = around(layer.self_attention_norm, x, input, Site::self_attention_output, rows, key,
               [&](const at::Tensor& in) { return attend_to_self(layer, in, rows, key); });
    if (memory != nullptr)
      x = around(*layer.cross_attention_norm, x, x, Site::cross_attention_output, rows, key, [&](const at::Tensor& in) {
        return attend_to_memory(layer, in, memory->keys_values[index], *memory, key);
      });
    x = around(layer.transition_norm, x, x, Site::transition_output, rows, key,
               [&](const at::Tensor& in) { return layer.transition->forward(in, rows.exchange, key); });
    input = x;
  }
  return x;
}

Memory Block::remember(const at::Tensor& encoded, const dist::SequenceExchange& source,
                       const dist::Rows& decoder_rows) const {
  std::vector<at::Tensor> keys_values;
  for (const Layer& layer : layers_) keys_values.push_back(source.gather(layer.cross_attention->keys_values(encoded)));
  return {std::move(keys_values), AttentionLayout(decoder_rows, source.all(), false)};
}

}  // namespace ut::core
