// A decoder that gets one position at a time, with earlier ones in the cache, against one that gets all at once.

#include "core/cached_rows.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

/// Halting, transition, layers in the block, whether pre-norm.
using CachedForm = std::tuple<HaltingOptions, TransitionKind, std::int64_t, bool>;

class DecodingCacheForm : public testing::TestWithParam<CachedForm> {
 protected:
  DecodingCacheForm() {
    const auto& [halting, transition, layers, pre] = GetParam();
    options_.encoder_steps = options_.decoder_steps = 5;
    options_.halting = halting;
    options_.transition = transition;
    options_.block_layers = layers;
    options_.norm = pre ? Norm::pre : Norm::post;
    options_.residual = pre ? Residual::signal_in : Residual::signal_out;
    model_.emplace(options_, 3);
    perturb_parameters(*model_, 2, 0.3);
  }

  ModelOptions options_ = small_options();
  std::optional<UniversalTransformer> model_;
};

TEST_P(DecodingCacheForm, GivesTheSameStatesAsAllPositionsAtOnce) {
  const at::NoGradGuard no_graph;
  constexpr std::int64_t count = 4;
  constexpr std::int64_t length = 18;  // more than the cache has room for at first
  std::vector<ExampleSequence> sequences;
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const std::int64_t id : numbers) {
    sequences.push_back(random_sequence(7, id, 1 + 3 * id, length, options_));
    sequences.back().offset = 0;
  }
  const auto group = dist::make_single_communicator();
  const Batch batch = make_batch(sequences, Architecture::encoder_decoder, *group);
  const StackOutput encoded = model_->encode(model_->embed_source(batch), batch, 5, {});
  const Memory memory = model_->decoder().block().remember(encoded.state, *batch.source);
  const at::Tensor embedded = model_->embed_target(batch);
  const StackOutput expected = model_->decode(embedded, &memory, batch, 5, {});

  DecodingCache cache(count, at::kCPU);
  const at::Tensor first_rows = at::arange(count) * length;
  for (std::int64_t position = 0; position < length; ++position) {
    const auto rows = make_cached_rows(cache, {position, numbers, numbers}, options_.halting.decoder, 5, &memory.rows);
    const at::Tensor row = first_rows + position;
    const StackOutput output = model_->decoder().forward(embedded.index_select(0, row),
                                                         at::full({count}, position, at::kLong), 5, *rows, &memory, {});
    EXPECT_TRUE(output.state.allclose(expected.state.index_select(0, row), 1e-11, 1e-11)) << position;
    EXPECT_TRUE(output.updates.equal(expected.updates.index_select(0, row))) << position;
  }
  const auto different = std::get<0>(at::_unique(expected.updates)).numel();
  EXPECT_GE(different, options_.halting.any() ? 2 : 1) << "all halt at the same step";
}

std::vector<HaltingOptions> halting_forms() {
  std::vector<HaltingOptions> forms{{}};
  for (const Halting decoder : {Halting::act, Halting::act_copy})
    for (const ActKind kind : {ActKind::basic, ActKind::random})
      for (const ActOutput output : {ActOutput::accumulated, ActOutput::interpolated}) {
        forms.push_back(lively_halting(Halting::act_copy, decoder));
        forms.back().kind = kind;
        forms.back().output = output;
      }
  return forms;
}

INSTANTIATE_TEST_SUITE_P(Forms, DecodingCacheForm,
                         testing::Combine(testing::ValuesIn(halting_forms()),
                                          testing::Values(TransitionKind::feed_forward,
                                                          TransitionKind::separable_convolution),
                                          testing::Values(1, 2), testing::Bool()));

}  // namespace
}  // namespace ut::core
