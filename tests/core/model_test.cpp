// The whole model with all dropout on, against the same model written out.

#include <gtest/gtest.h>

#include "core/universal_transformer.h"
#include "tests/core/random_batch.h"
#include "tests/core/written_out.h"

namespace ut::core {
namespace {

class WholeModel : public testing::TestWithParam<std::tuple<Halting, Recompute>> {};

/// Halting units that never fire let positions take all steps; act-copy then gives the last state.
TEST_P(WholeModel, EqualsTheWrittenOutModelWithAllDropout) {
  ModelOptions options = small_options();
  options.block_layers = 2;
  const auto& [halting, recompute] = GetParam();
  options.halting.encoder = options.halting.decoder = halting;
  options.halting.bias = -60;
  options.recompute = recompute;
  UniversalTransformer model(options, 3);
  perturb_parameters(model, 4);
  auto sequences = random_sequences(5, 6, 9, options);
  for (auto& sequence : sequences) sequence.offset = 0;
  const auto group = dist::make_single_communicator();
  const Batch batch = make_batch(sequences, Architecture::encoder_decoder, *group);
  const auto key = DropoutKey::for_update(7, 8);
  const Prediction made = model.forward(batch, model.steps(), key);
  std::vector<at::Tensor> expected;
  for (const auto& sequence : sequences) expected.push_back(WrittenOut(model, key, sequence).logits());
  EXPECT_TRUE(made.logits.allclose(at::cat(expected), 1e-10, 1e-10));
  EXPECT_FALSE(made.logits.allclose(model.forward(batch, model.steps(), {}).logits, 1e-3, 1e-3))
      << "nothing is dropped";
}

INSTANTIATE_TEST_SUITE_P(, WholeModel,
                         testing::Combine(testing::Values(Halting::none, Halting::act_copy),
                                          testing::Values(Recompute::none, Recompute::step)));

TEST(Model, DependsOnTheOrderOfARowsWordsEvenUntrained) {
  ModelOptions options = small_options();
  options.architecture = Architecture::encoder;
  options.words_per_row = 3;
  UniversalTransformer model(options, 3);
  const auto group = dist::make_single_communicator();
  const auto logits = [&](std::vector<std::int64_t> words) -> at::Tensor {
    ExampleSequence sequence;
    sequence.source = {{2}, std::move(words)};
    sequence.answer = 4;
    const at::NoGradGuard no_graph;
    const Batch batch = make_batch(std::vector{sequence}, options.architecture, *group);
    return model.forward(batch, model.steps(), {}).logits;
  };
  const at::Tensor before = logits({3, 4, 5});
  EXPECT_TRUE(before.allclose(logits({3, 4, 5}), 0, 0));
  EXPECT_GT((before - logits({5, 4, 3})).abs().max().item<double>(), 1e-3);
}

}  // namespace
}  // namespace ut::core
