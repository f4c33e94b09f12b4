// The LSTM baseline against plain loops over positions, and what its output must not depend on.

#include "core/lstm.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <set>

#include "core/decoding.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

/// Computes one sequence after the other, one position after the other.
class PlainLstm {
 public:
  explicit PlainLstm(const Model& model, const DropoutKey& key = {}) : options_(model.options()), key_(key) {
    for (const Parameter& parameter : model.parameters().all()) parameters_[parameter.name] = parameter.tensor;
  }

  /// Logits of a sequence's targets [target rows, vocabulary], or of its answer [1, vocabulary].
  at::Tensor logits(const ExampleSequence& sequence) {
    sequence_ = sequence.id;
    std::vector<at::Tensor> inputs;
    for (const auto& words : sequence.source) inputs.push_back(embedded(words));
    States states;
    const at::Tensor table = parameters_.at("table");
    std::vector<at::Tensor> encoded;
    if (options_.architecture != Architecture::decoder) encoded = read("encoder", inputs, states);
    if (options_.architecture == Architecture::encoder) return encoded.back().unsqueeze(0).matmul(table.t());
    inputs = {at::zeros_like(table[0])};
    for (std::size_t place = 0; place + 1 < sequence.target.size(); ++place)
      inputs.push_back(table[sequence.target[place]] * std::sqrt(static_cast<double>(options_.d_model)));
    std::vector<at::Tensor> rows;
    for (const at::Tensor& state : read("decoder", inputs, states))
      rows.push_back(encoded.empty() ? state : attended(state, encoded));
    if (!encoded.empty())
      drop(rows, options_.residual_dropout, key_.with_stack(1).with_site(Site::cross_attention_output));
    return at::stack(rows).matmul(table.t());
  }

  std::vector<at::Tensor> parameters(const Model& model) const {
    std::vector<at::Tensor> tensors;
    for (const Parameter& parameter : model.parameters().all()) tensors.push_back(parameter.tensor);
    return tensors;
  }

 private:
  using States = std::map<std::int64_t, std::pair<at::Tensor, at::Tensor>>;  // by layer: hidden state and cell

  at::Tensor embedded(const std::vector<std::int64_t>& words) const {
    at::Tensor sum;
    for (std::size_t place = 0; place < words.size(); ++place) {
      at::Tensor word = parameters_.at("table")[words[place]] * std::sqrt(static_cast<double>(options_.d_model));
      if (options_.words_per_row > 1) word = word * parameters_.at("word_mask")[static_cast<std::int64_t>(place)];
      sum = sum.defined() ? sum + word : word;
    }
    return sum;
  }

  /// Drops elements of a sequence's rows.
  void drop(std::vector<at::Tensor>& rows, double rate, const DropoutKey& key) const {
    const auto length = static_cast<std::int64_t>(rows.size());
    const at::Tensor kept = dropout(at::ones({length, options_.d_model}, at::kDouble), rate, key,
                                    dist::rows_of({{sequence_}, {length}}, 0, 1));
    for (std::int64_t row = 0; row < length; ++row)
      rows[static_cast<std::size_t>(row)] = rows[static_cast<std::size_t>(row)] * kept[row];
  }

  std::vector<at::Tensor> read(const std::string& stack, std::vector<at::Tensor> inputs, States& states) const {
    const DropoutKey key = key_.with_stack(stack == "decoder" ? 1 : 0);
    drop(inputs, options_.input_dropout, key.with_site(Site::input));
    for (std::int64_t layer = 0; layer < options_.lstm_layers; ++layer) {
      const std::string name = stack + ".layer" + std::to_string(layer);
      auto& [hidden, cell] = states[layer];
      if (!hidden.defined()) hidden = cell = at::zeros_like(inputs.front());
      for (at::Tensor& input : inputs) {
        const auto gates = (parameters_.at(name + ".input").mv(input) + parameters_.at(name + ".hidden").mv(hidden) +
                            parameters_.at(name + ".bias"))
                               .chunk(4);
        cell = at::sigmoid(gates[1] + 1) * cell + at::sigmoid(gates[0]) * at::tanh(gates[2]);
        hidden = at::sigmoid(gates[3]) * at::tanh(cell);
        input = hidden;
      }
      drop(inputs, options_.residual_dropout,
           key.with_layer(static_cast<std::size_t>(layer)).with_site(Site::transition_output));
    }
    return inputs;
  }

  at::Tensor attended(const at::Tensor& state, const std::vector<at::Tensor>& encoded) const {
    const at::Tensor query = state.matmul(parameters_.at("decoder.attention.query"));
    std::vector<at::Tensor> scores;
    for (const at::Tensor& row : encoded)
      scores.push_back(query.dot(row) / std::sqrt(static_cast<double>(options_.d_model)));
    const at::Tensor weights = at::softmax(at::stack(scores), 0);
    const at::Tensor context = weights.matmul(at::stack(encoded));
    return at::tanh(at::cat({context, state}).matmul(parameters_.at("decoder.attention.combine")));
  }

  ModelOptions options_;
  DropoutKey key_;
  std::int64_t sequence_ = 0;  // id of the current one
  std::map<std::string, at::Tensor> parameters_;
};

class LstmOf : public testing::TestWithParam<Architecture> {
 protected:
  LstmOf() {
    options_.kind = ModelKind::lstm;
    options_.architecture = GetParam();
    options_.words_per_row = GetParam() == Architecture::encoder ? 3 : 1;
    options_.lstm_layers = 3;
    model_.emplace(options_, 7);
    perturb_parameters(*model_, 2, 0.3);
    sequences_ = random_sequences(4, 7, 9, options_);
  }

  at::Tensor logits(std::span<const ExampleSequence> sequences, const DropoutKey& key) const {
    return model_->forward(make_batch(sequences, GetParam(), *group_), model_->steps(), key).logits;
  }

  void expect_loops_to_give_it(const DropoutKey& key) {
    model_->parameters().flat_gradient().zero_();
    PlainLstm plain(*model_, key);
    std::vector<at::Tensor> rows;
    for (const ExampleSequence& sequence : sequences_) rows.push_back(plain.logits(sequence));
    const at::Tensor expected = at::cat(rows);
    const at::Tensor actual = logits(sequences_, key);
    ASSERT_EQ(actual.sizes(), expected.sizes());
    EXPECT_LT((actual - expected).abs().max().item<double>(), 1e-12);

    const at::Tensor weights = random_tensor(expected.sizes().vec(), 5);
    const auto wanted =
        torch::autograd::grad({(expected * weights).sum()}, plain.parameters(*model_), {}, std::nullopt, false, true);
    (actual * weights).sum().backward();
    for (std::size_t index = 0; index < wanted.size(); ++index) {
      const Parameter& parameter = model_->parameters().all()[index];
      ASSERT_TRUE(wanted[index].defined()) << parameter.name;
      EXPECT_GT(wanted[index].abs().max().item<double>(), 1e-6) << parameter.name << ": nothing that could be wrong";
      EXPECT_LT((parameter.tensor.grad() - wanted[index]).abs().max().item<double>(), 1e-11) << parameter.name;
    }
  }

  ModelOptions options_ = small_options();
  std::optional<Lstm> model_;
  std::vector<ExampleSequence> sequences_;
  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
};

TEST_P(LstmOf, EqualsLoopsOverPositionsForwardAndBackward) {
  for (const DropoutKey& key : {DropoutKey{}, DropoutKey::for_update(3, 5)}) expect_loops_to_give_it(key);
}
TEST_P(LstmOf, DoesNotDependOnTheRestOfTheBatch) {
  const DropoutKey key = DropoutKey::for_update(3, 5);
  std::vector<at::Tensor> rows;
  for (std::size_t index = 0; index < sequences_.size(); ++index)
    rows.push_back(logits(std::span(sequences_).subspan(index, 1), key));
  const at::Tensor together = logits(sequences_, key);
  EXPECT_LT((together - at::cat(rows)).abs().max().item<double>(), 1e-12);
  EXPECT_GT((together - logits(sequences_, {})).abs().max().item<double>(), 0.01) << "nothing was dropped";
  EXPECT_GT((together - logits(sequences_, DropoutKey::for_update(3, 6))).abs().max().item<double>(), 0.01);
}

TEST_P(LstmOf, GivesNoRowsAndNoGradientForNoSequences) {
  const at::Tensor none = logits({}, DropoutKey::for_update(3, 5));
  EXPECT_EQ(none.size(0), 0);
  none.sum().backward();
  EXPECT_EQ(model_->parameters().flat_gradient().abs().max().item<double>(), 0);
}

TEST_P(LstmOf, DecodesTheLikeliestSymbolAfterEachOfItsOwn) {
  if (GetParam() == Architecture::encoder) return;  // an encoder alone gives no sequence
  constexpr std::int64_t longest = 12;
  Batch sources;
  if (GetParam() == Architecture::encoder_decoder) add_source(sources, sequences_, *group_);
  const Decoded decoded = decode(*model_, sources, sources_of(sequences_), model_->steps(), {longest, -1},
                                 *group_);  // no symbol ends a sequence
  std::vector<std::int64_t> all;
  for (std::size_t index = 0; index < sequences_.size(); ++index) {
    ASSERT_EQ(decoded.found.outputs[index].size(), longest);
    sequences_[index].target = decoded.found.outputs[index];
    all.insert(all.end(), decoded.found.outputs[index].begin(), decoded.found.outputs[index].end());
  }
  EXPECT_TRUE(logits(sequences_, {}).argmax(1).equal(at::tensor(all, at::kLong)));
  EXPECT_GT(std::set(all.begin(), all.end()).size(), 2U) << "outputs that could hide a mistake";
}

INSTANTIATE_TEST_SUITE_P(, LstmOf,
                         testing::Values(Architecture::encoder_decoder, Architecture::encoder, Architecture::decoder));

}  // namespace
}  // namespace ut::core
