#pragma once

// A model without halting, written out from equations 4 and 5 for one sequence at a time: dense, with full masks. Of
// the project's code it uses only the signals and dropout's random numbers.

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/dropout.h"
#include "core/signals.h"
#include "tests/core/random_batch.h"

namespace ut::core {

inline std::map<std::string, at::Tensor> by_name(const UniversalTransformer& model) {
  std::map<std::string, at::Tensor> parameters;
  for (const Parameter& parameter : model.parameters().all()) parameters[parameter.name] = parameter.tensor;
  return parameters;
}

/// For post-norm and positions that start at 0.
class WrittenOut {
 public:
  WrittenOut(const UniversalTransformer& model, const DropoutKey& key, const ExampleSequence& sequence)
      : options_(model.options()), parameters_(by_name(model)), key_(key), sequence_(sequence) {}

  /// [target rows, vocabulary]
  at::Tensor logits() const {
    at::Tensor memory;  // [source rows, d]
    if (options_.architecture == Architecture::encoder_decoder) {
      std::vector<std::int64_t> words;
      for (const auto& row : sequence_.source) words.push_back(row.at(0));
      memory = stack("encoder", embedded(words), {});
    }
    const at::Tensor words = embedded(sequence_.target);
    const at::Tensor shifted = at::cat({at::zeros_like(words.narrow(0, 0, 1)), words.slice(0, 0, -1)});
    return stack("decoder", shifted, memory).matmul(parameters_.at("table").t());
  }

 private:
  struct Place {
    std::string layer;  // prefix of its parameters' names
    DropoutKey key;
    at::Tensor hidden;  // [rows, rows]: true where a row does not see the other
  };

  at::Tensor embedded(const std::vector<std::int64_t>& words) const {
    return at::embedding(parameters_.at("table"), at::tensor(words, at::kLong)) *
           std::sqrt(static_cast<double>(options_.d_model));
  }

  at::Tensor dropped(const at::Tensor& x, double rate, const DropoutKey& key, Site site) const {
    const dist::Rows rows{at::full({x.size(0)}, sequence_.id, at::kLong), at::arange(x.size(0)), {0, x.size(0)}};
    return x * dropout(at::ones_like(x), rate, key.with_site(site), rows);
  }

  at::Tensor dropped_weights(const at::Tensor& weights, const DropoutKey& key, Site site) const {
    auto queries = std::make_shared<QueryIdentities>();
    for (std::int64_t query = 0; query < weights.size(1); ++query) {
      queries->sequence.push_back(sequence_.id);
      queries->position.push_back(query);
    }
    queries->first_key.push_back(0);
    return weights * dropout_attention(at::ones_like(weights).unsqueeze(0), options_.attention_dropout,
                                       key.with_site(site), queries)[0];
  }

  /// Equations 2 and 3: `query` [rows, d] over `key` and `value` [others, d].
  at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Place& at,
                       Site site) const {
    const auto by_head = [&](const at::Tensor& x) { return x.view({x.size(0), options_.heads, -1}).transpose(0, 1); };
    const double columns = static_cast<double>(options_.d_model) / static_cast<double>(options_.heads);
    at::Tensor scores = by_head(query).matmul(by_head(key).transpose(1, 2)) / std::sqrt(columns);
    if (at.hidden.defined()) scores = scores.masked_fill(at.hidden, -INFINITY);
    const at::Tensor heads = dropped_weights(scores.softmax(2), at.key, site).matmul(by_head(value));
    return heads.transpose(0, 1).flatten(1);
  }

  at::Tensor normalised_sum(const at::Tensor& x, const at::Tensor& output, const Place& at, const std::string& part,
                            Site site) const {
    const at::Tensor sum = x + dropped(output, options_.residual_dropout, at.key, site);
    return at::layer_norm(sum, {options_.d_model}, parameters_.at(at.layer + part + ".norm.scale"),
                          parameters_.at(at.layer + part + ".norm.bias"), 1e-6);
  }

  /// `seen`: in a step's first layer the state with its signals, else the state.
  at::Tensor layer(const at::Tensor& state, const at::Tensor& seen, const at::Tensor& memory, Place at) const {
    const auto parameter = [&](const std::string& name) { return parameters_.at(at.layer + name); };
    const auto own = seen.matmul(parameter("self_attention.query_key_value")).chunk(3, 1);
    at::Tensor x = attention(own[0], own[1], own[2], at, Site::self_attention_weights);
    x = normalised_sum(state, x.matmul(parameter("self_attention.output")), at, "self_attention",
                       Site::self_attention_output);
    if (memory.defined()) {
      at.hidden = at::Tensor();
      const auto others = memory.matmul(parameter("cross_attention.key_value")).chunk(2, 1);
      const at::Tensor looked_up = attention(x.matmul(parameter("cross_attention.query")), others[0], others[1], at,
                                             Site::cross_attention_weights);
      x = normalised_sum(x, looked_up.matmul(parameter("cross_attention.output")), at, "cross_attention",
                         Site::cross_attention_output);
    }
    const at::Tensor hidden = (x.matmul(parameter("transition.kernel1")) + parameter("transition.bias1")).relu();
    const at::Tensor output = dropped(hidden, options_.transition_dropout, at.key, Site::transition_hidden)
                                  .matmul(parameter("transition.kernel2")) +
                              parameter("transition.bias2");
    return normalised_sum(x, output, at, "transition", Site::transition_output);
  }

  at::Tensor stack(const std::string& name, const at::Tensor& input, const at::Tensor& memory) const {
    const bool decodes = name == "decoder";
    const DropoutKey of_stack = key_.with_stack(decodes ? 1 : 0);
    at::Tensor state = dropped(input, options_.input_dropout, of_stack, Site::input);
    const at::Tensor position = sinusoid(at::arange(input.size(0)), options_.d_model, options_.signal);
    for (std::int64_t step = 1; step <= (decodes ? options_.decoder_steps : options_.encoder_steps); ++step) {
      const at::Tensor of_step = sinusoid(at::tensor({step - 1}, at::kLong), options_.d_model, options_.signal);
      at::Tensor seen = state + position + of_step;
      for (std::int64_t index = 0; index < options_.block_layers; ++index) {
        const DropoutKey key = of_stack.with_step(step).with_layer(static_cast<std::size_t>(index));
        Place at{fmt::format("{}.layer{}.", name, index), key, {}};
        if (decodes) at.hidden = at::ones({input.size(0), input.size(0)}, at::kBool).triu(1);
        seen = state = layer(state, seen, memory, at);
      }
    }
    return state;
  }

  ModelOptions options_;
  std::map<std::string, at::Tensor> parameters_;
  DropoutKey key_;
  ExampleSequence sequence_;
};

}  // namespace ut::core
