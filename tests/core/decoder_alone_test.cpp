// A decoder without an encoder: against attention written out for whole sequences, and against an encoder-decoder whose
// attention over the encoder adds nothing.

#include <gtest/gtest.h>

#include "core/decoding.h"
#include "tests/core/random_batch.h"
#include "tests/core/written_out.h"

namespace ut::core {
namespace {

ModelOptions decoder_options() {
  ModelOptions options = small_options();
  options.architecture = Architecture::decoder;
  options.decoder_steps = 4;
  return options;
}

TEST(DecoderAlone, IsCausalSelfAttentionAndTransition) {
  UniversalTransformer model(decoder_options(), 3);
  perturb_parameters(model, 4);
  auto sequences = random_sequences(5, 6, 9, model.options());
  for (auto& sequence : sequences) sequence.offset = 0;
  const auto group = dist::make_single_communicator();
  const Batch batch = make_batch(sequences, Architecture::decoder, *group);
  const Prediction made = model.forward(batch, model.steps(), {});
  std::vector<at::Tensor> expected;
  for (const auto& sequence : sequences) expected.push_back(WrittenOut(model, {}, sequence).logits());
  EXPECT_TRUE(made.logits.allclose(at::cat(expected), 1e-11, 1e-11));
  EXPECT_FALSE(made.encoder.updates.defined());
  for (const auto& [name, tensor] : by_name(model)) {
    EXPECT_NE(name.rfind("encoder.", 0), 0u) << name;
    EXPECT_EQ(name.find("cross_attention"), std::string::npos) << name;
  }
}

class DecoderWithEncoder : public testing::TestWithParam<std::tuple<Halting, TransitionKind, Recompute>> {};

/// In pre-norm a sub-layer whose output is zero changes nothing.
TEST_P(DecoderWithEncoder, EqualsTheDecoderAloneIfTheEncoderAddsNothing) {
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
  perturb_parameters(both, 4);
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

INSTANTIATE_TEST_SUITE_P(, DecoderWithEncoder,
                         testing::Combine(testing::Values(Halting::none, Halting::act, Halting::act_copy),
                                          testing::Values(TransitionKind::feed_forward,
                                                          TransitionKind::separable_convolution),
                                          testing::Values(Recompute::none, Recompute::step)));

TEST(DecoderAlone, DecodesTheLikeliestSymbolAfterEachOfItsOwn) {
  for (const ActKind kind : {ActKind::basic, ActKind::global})
    for (const Halting halting : {Halting::none, Halting::act, Halting::act_copy}) {
      ModelOptions options = decoder_options();
      options.norm = Norm::pre;
      options.residual = Residual::signal_in;
      options.halting = lively_halting(Halting::none, halting);
      options.halting.kind = kind;
      UniversalTransformer model(options, 3);
      perturb_parameters(model, 2, 0.6);
      const auto group = dist::make_single_communicator();
      const std::vector<std::int64_t> ids{0, 1};
      const auto [found, encoder_updates, decoder_updates] =
          decode(model, {}, {ids, {0, 0}}, model.steps(), {9, -1}, *group);
      const Outputs& outputs = found.outputs;
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
