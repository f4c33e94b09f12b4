// A decoder without an encoder: against attention written out for whole sequences, and against an encoder-decoder whose
// attention over the encoder adds nothing.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/decoding.h"
#include "core/signals.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

ModelOptions decoder_options() {
  ModelOptions options = small_options();
  options.architecture = Architecture::decoder;
  options.decoder_steps = 4;
  return options;
}

std::map<std::string, at::Tensor> by_name(const UniversalTransformer& model) {
  std::map<std::string, at::Tensor> parameters;
  for (const Parameter& parameter : model.parameters().all()) parameters[parameter.name] = parameter.tensor;
  return parameters;
}

/// The decoder of equations 4 and 5 with post-norm, of one whole sequence [length] without offset -> [length,
/// vocabulary].
at::Tensor written_out(const UniversalTransformer& model, const std::vector<std::int64_t>& target) {
  const ModelOptions& options = model.options();
  const auto parameters = by_name(model);
  const auto parameter = [&](const std::string& name) { return parameters.at("decoder.layer0." + name); };
  const auto norm = [&](const at::Tensor& x, const std::string& name) {
    return at::layer_norm(x, {options.d_model}, parameter(name + ".norm.scale"), parameter(name + ".norm.bias"), 1e-6);
  };
  const auto length = std::ssize(target);
  const at::Tensor unseen = at::ones({length, length}, at::kBool).triu(1);
  const auto attend = [&](const at::Tensor& x) {
    const auto parts = x.matmul(parameter("self_attention.query_key_value")).chunk(3, 1);
    const std::int64_t columns = options.d_model / options.heads;
    std::vector<at::Tensor> heads;
    for (std::int64_t head = 0; head < options.heads; ++head) {
      const auto of_head = [&](const at::Tensor& part) { return part.narrow(1, head * columns, columns); };
      const at::Tensor scores =
          of_head(parts[0]).matmul(of_head(parts[1]).t()) / std::sqrt(static_cast<double>(columns));
      heads.push_back(scores.masked_fill(unseen, -INFINITY).softmax(1).matmul(of_head(parts[2])));
    }
    return at::cat(heads, 1).matmul(parameter("self_attention.output"));
  };
  const at::Tensor words = at::tensor(target, at::kLong).narrow(0, 0, length - 1);
  const at::Tensor scaled =
      at::embedding(parameters.at("table"), words) * std::sqrt(static_cast<double>(options.d_model));
  at::Tensor state = at::cat({at::zeros({1, options.d_model}, scaled.options()), scaled});
  const at::Tensor signal = sinusoid(at::arange(length), options.d_model, options.signal);
  for (std::int64_t step = 0; step < options.decoder_steps; ++step) {
    const at::Tensor step_signal = sinusoid(at::tensor({step}, at::kLong), options.d_model, options.signal);
    state = norm(state + attend(state + signal + step_signal), "self_attention");
    const at::Tensor hidden = (state.matmul(parameter("transition.kernel1")) + parameter("transition.bias1")).relu();
    state = norm(state + hidden.matmul(parameter("transition.kernel2")) + parameter("transition.bias2"), "transition");
  }
  return state.matmul(parameters.at("table").t());
}

TEST(DecoderAlone, IsCausalSelfAttentionAndTransition) {
  UniversalTransformer model(decoder_options(), 3);
  roughen(model, 4);
  auto sequences = random_sequences(5, 6, 9, model.options());
  for (auto& sequence : sequences) sequence.offset = 0;
  const auto group = dist::make_single_communicator();
  const Batch batch = make_batch(sequences, Architecture::decoder, *group);
  const Prediction made = model.forward(batch, model.steps(), {});
  std::vector<at::Tensor> expected;
  for (const auto& sequence : sequences) expected.push_back(written_out(model, sequence.target));
  EXPECT_TRUE(made.logits.allclose(at::cat(expected), 1e-11, 1e-11));
  EXPECT_FALSE(made.encoder.updates.defined());
  for (const auto& [name, tensor] : by_name(model)) {
    EXPECT_NE(name.rfind("encoder.", 0), 0u) << name;
    EXPECT_EQ(name.find("cross_attention"), std::string::npos) << name;
  }
}

class BesideAnEncoder : public testing::TestWithParam<std::tuple<Halting, TransitionKind, Recompute>> {};

/// With pre-norm a sub-layer that gives zeros changes nothing.
TEST_P(BesideAnEncoder, ThatAddsNothingGivesTheSame) {
  const auto& [halting, transition, recompute] = GetParam();
  ModelOptions options = small_options();
  options.norm = Norm::pre;
  options.residual = Residual::signal_in;
  options.block_layers = 2;
  options.decoder_steps = 4;
  options.transition = transition;
  options.recompute = recompute;
  options.halting = lively_halting(Halting::none, halting);
  UniversalTransformer both(options, 3);
  roughen(both, 4);
  options.architecture = Architecture::decoder;
  UniversalTransformer alone(options, 8);
  const auto parameters = by_name(both);
  {
    const at::NoGradGuard no_graph;
    for (const auto& [name, tensor] : by_name(alone)) at::Tensor(tensor).copy_(parameters.at(name));
    for (const auto& [name, tensor] : parameters)
      if (name.ends_with("cross_attention.output")) at::Tensor(tensor).zero_();
  }
  const auto sequences = random_sequences(5, 6, 9, options);
  const auto group = dist::make_single_communicator();
  const auto key = DropoutKey::for_update(1, 2);
  const Batch with_source = make_batch(sequences, Architecture::encoder_decoder, *group);
  const Batch batch = make_batch(sequences, Architecture::decoder, *group);
  const at::Tensor expected = loss_of(both, with_source, key);
  const at::Tensor loss = loss_of(alone, batch, key);
  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-10);
  expected.backward();
  loss.backward();
  for (const auto& [name, tensor] : by_name(alone))
    EXPECT_TRUE(tensor.grad().allclose(parameters.at(name).grad(), 1e-10, 1e-10)) << name;
}

INSTANTIATE_TEST_SUITE_P(, BesideAnEncoder,
                         testing::Combine(testing::Values(Halting::none, Halting::act, Halting::act_copy),
                                          testing::Values(TransitionKind::feed_forward,
                                                          TransitionKind::separable_convolution),
                                          testing::Values(Recompute::none, Recompute::step)));

TEST(DecoderAlone, DecodesWhatItFindsLikeliestAfterItsOwnSymbols) {
  for (const ActKind kind : {ActKind::basic, ActKind::global})
    for (const Halting halting : {Halting::none, Halting::act, Halting::act_copy}) {
      ModelOptions options = decoder_options();
      options.norm = Norm::pre;
      options.residual = Residual::signal_in;
      options.halting = lively_halting(Halting::none, halting);
      options.halting.kind = kind;
      UniversalTransformer model(options, 3);
      roughen(model, 2, 0.6);
      const auto group = dist::make_single_communicator();
      const std::vector<std::int64_t> ids{0, 1};
      const auto [outputs, encoder_updates, decoder_updates] =
          decode(model, {}, {ids, {0, 0}}, model.steps(), {9, -1}, *group);
      EXPECT_TRUE(encoder_updates.defined()) << "empty: there is no encoder";
      ASSERT_EQ(outputs.size(), 2u);
      EXPECT_EQ(outputs[0], outputs[1]) << "of nothing before them";
      ExampleSequence sequence;
      sequence.target = outputs[0];
      const Batch batch = make_batch(std::span(&sequence, 1), Architecture::decoder, *group);
      const at::Tensor likeliest = model.forward(batch, model.steps(), {}).logits.argmax(1);
      EXPECT_EQ(likeliest[8].item<std::int64_t>(), outputs[0].back());
      if (kind == ActKind::basic) {
        EXPECT_TRUE(likeliest.equal(at::tensor(outputs[0], at::kLong)));
      }
    }
}

}  // namespace
}  // namespace ut::core
