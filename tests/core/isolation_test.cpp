// Which rows may see which, and what a row's numbers may depend on.

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/bad_input.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

using Examples = std::vector<ExampleSequence>;

class Isolation : public testing::TestWithParam<TransitionKind> {
 protected:
  Isolation() {
    options_.transition = GetParam();
    options_.block_layers = 2;
  }

  at::Tensor logits(const Examples& examples, const DropoutKey& key = {}) const {
    const at::NoGradGuard no_graph;
    UniversalTransformer model(options_, 7);
    perturb_parameters(model, 8);
    return model.forward(make_batch(examples, options_.architecture, *group_), model.steps(), key).logits;
  }

  /// For each row of `before`, the largest difference from the same row of `after`.
  static at::Tensor row_differences(const at::Tensor& before, const at::Tensor& after) {
    return (before - after).abs().amax(1);
  }

  /// Rows `begin` to `end` - 1 must differ, and no others.
  static void expect_only_changed(const at::Tensor& before, const at::Tensor& after, std::int64_t begin,
                                  std::int64_t end) {
    const at::Tensor difference = row_differences(before, after);
    for (std::int64_t row = 0; row < difference.size(0); ++row) {
      const auto by = difference[row].item<double>();
      if (row >= begin && row < end)
        EXPECT_GT(by, 1e-9) << "row " << row;
      else
        EXPECT_LT(by, 1e-12) << "row " << row;
    }
  }

  std::int64_t other_word(std::int64_t word) const { return (word + 1) % options_.vocabulary; }

  ModelOptions options_ = small_options();
  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
};

TEST_P(Isolation, ASequenceSeesNoOther) {
  const Examples examples = random_sequences(3, 5, 9, options_);
  const at::Tensor before = logits(examples);
  std::int64_t begin = 0;
  for (std::size_t index = 0; index < examples.size(); ++index) {
    const auto end = begin + static_cast<std::int64_t>(examples[index].target.size());
    for (std::size_t row = 0; row < examples[index].source.size(); ++row) {
      SCOPED_TRACE(testing::Message() << "sequence " << index << ", source row " << row);
      Examples perturbed = examples;
      auto& word = perturbed[index].source[row][0];
      word = other_word(word);
      expect_only_changed(before, logits(perturbed), begin, end);
    }
    begin = end;
  }
}

TEST_P(Isolation, ATargetRowSeesEveryEarlierRowAndNoLaterOne) {
  const Examples examples = random_sequences(4, 3, 9, options_);
  const at::Tensor before = logits(examples);
  std::int64_t begin = 0;
  for (std::size_t index = 0; index < examples.size(); ++index) {
    const auto length = static_cast<std::int64_t>(examples[index].target.size());
    for (std::int64_t row = 0; row < length; ++row) {
      SCOPED_TRACE(testing::Message() << "sequence " << index << ", target row " << row);
      Examples perturbed = examples;
      auto& word = perturbed[index].target[static_cast<std::size_t>(row)];
      word = other_word(word);
      expect_only_changed(before, logits(perturbed), begin + row + 1, begin + length);  // decoder input is shifted
    }
    begin += length;
  }
}

TEST_P(Isolation, AnEncoderAloneSeesNoOtherSequence) {
  options_.architecture = Architecture::encoder;
  options_.words_per_row = 3;
  const Examples examples = random_sequences(5, 4, 6, options_);
  const at::Tensor before = logits(examples);
  for (std::size_t index = 0; index < examples.size(); ++index)
    for (std::size_t row = 0; row < examples[index].source.size(); ++row) {
      SCOPED_TRACE(testing::Message() << "sequence " << index << ", source row " << row);
      Examples perturbed = examples;
      auto& word = perturbed[index].source[row].back();
      word = other_word(word);
      const auto changed = static_cast<std::int64_t>(index);
      expect_only_changed(before, logits(perturbed), changed, changed + 1);
    }
}

TEST_P(Isolation, ABatchGivesWhatItsSequencesGiveAlone) {
  const Examples examples = random_sequences(6, 4, 9, options_);
  const auto key = DropoutKey::for_update(1, 2);
  std::vector<at::Tensor> alone;
  for (const auto& example : examples) alone.push_back(logits({example}, key));
  EXPECT_TRUE(logits(examples, key).allclose(at::cat(alone), 1e-12, 1e-12));
}

TEST_P(Isolation, PermutingSequencesPermutesOutputsAndNothingElse) {
  const Examples examples = random_sequences(7, 4, 9, options_);
  const std::vector<std::size_t> order{2, 0, 3, 1};
  std::vector<at::Tensor> parts;
  std::vector<std::int64_t> lengths;
  for (const auto& example : examples) lengths.push_back(static_cast<std::int64_t>(example.target.size()));
  const auto key = DropoutKey::for_update(1, 2);
  const auto before = logits(examples, key).split_with_sizes(lengths);
  Examples permuted;
  std::vector<at::Tensor> expected;
  for (const std::size_t index : order) {
    permuted.push_back(examples[index]);
    expected.push_back(before[index]);
  }
  EXPECT_TRUE(logits(permuted, key).allclose(at::cat(expected), 1e-12, 1e-12));
}

TEST_P(Isolation, DropoutDependsOnTheSequenceNumber) {
  Examples examples = random_sequences(8, 1, 9, options_);
  const auto key = DropoutKey::for_update(1, 2);
  const at::Tensor before = logits(examples, key);
  const at::Tensor without = logits(examples);
  examples[0].id = 1;
  EXPECT_GT(row_differences(before, logits(examples, key)).min().item<double>(), 1e-6);
  EXPECT_TRUE(without.equal(logits(examples)));
}

INSTANTIATE_TEST_SUITE_P(Transitions, Isolation,
                         testing::Values(TransitionKind::feed_forward, TransitionKind::separable_convolution),
                         [](const auto& kind) {
                           return kind.param == TransitionKind::feed_forward ? "FeedForward" : "Convolution";
                         });

TEST(Positions, OffsetsReachTheSignals) {
  const auto group = dist::make_single_communicator();
  const UniversalTransformer model(small_options(), 7);
  Batch batch = make_batch(random_sequences(9, 2, 6, model.options()), Architecture::encoder_decoder, *group);
  const at::Tensor before = model.forward(batch, model.steps(), {}).logits;
  batch.source_position = batch.source_position + 1;
  const at::Tensor moved_source = model.forward(batch, model.steps(), {}).logits;
  batch.target_position = batch.target_position + 1;
  const at::Tensor moved_both = model.forward(batch, model.steps(), {}).logits;
  EXPECT_GT((before - moved_source).abs().min().item<double>(), 0);
  EXPECT_GT((moved_both - moved_source).abs().min().item<double>(), 0);
}

/// A model's logits on one batch after so many encoder and decoder steps.
class StepsAtEvaluation : public testing::Test {
 protected:
  at::Tensor logits(std::int64_t encoder, std::int64_t decoder) const {
    const at::NoGradGuard no_graph;
    const UniversalTransformer model(options_, 7);
    return model
        .forward(make_batch(random_sequences(9, 2, 6, options_), options_.architecture, *group_), {encoder, decoder},
                 {})
        .logits;
  }

  ModelOptions options_ = small_options();
  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
};

TEST_F(StepsAtEvaluation, MayDifferFromTraining) {
  const at::Tensor trained = logits(options_.encoder_steps, options_.decoder_steps);
  for (const auto& [encoder, decoder] : {std::pair{1, 1}, {3, 5}, {12, 2}, {0, 2}}) {
    const at::Tensor other = logits(encoder, decoder);
    EXPECT_EQ(other.sizes(), trained.sizes());
    EXPECT_GT((other - trained).abs().max().item<double>(), 1e-3) << encoder << " and " << decoder;
  }
}

TEST_F(StepsAtEvaluation, GiveTheSameAsAModelMadeWithThem) {
  const at::Tensor asked = logits(5, 4);
  options_.encoder_steps = 5;
  options_.decoder_steps = 4;
  EXPECT_TRUE(asked.equal(logits(5, 4)));
}

TEST_F(StepsAtEvaluation, AreALimitWherePositionsHalt) {
  options_.halting = lively_halting(Halting::act_copy, Halting::act_copy);
  options_.halting.threshold = 10;  // no position halts before the limit
  const at::Tensor asked = logits(5, 4);
  options_.encoder_steps = 5;
  options_.decoder_steps = 4;
  EXPECT_TRUE(asked.equal(logits(5, 4)));
}

TEST_F(StepsAtEvaluation, UseTheFirstLearnedSignals) {
  options_.step_signal = StepSignal::learned;
  at::Tensor all;
  at::Tensor first;
  for (at::Tensor* result : {&all, &first}) {
    const at::NoGradGuard no_graph;
    UniversalTransformer model(options_, 7);
    std::int64_t tables = 0;
    for (const Parameter& parameter : model.parameters().all()) {
      if (parameter.name.find("step") == std::string::npos) continue;
      ++tables;
      if (result == &first) parameter.tensor.narrow(0, 1, parameter.tensor.size(0) - 1).zero_();
    }
    EXPECT_EQ(tables, 2);
    const Batch batch = make_batch(random_sequences(9, 2, 6, options_), options_.architecture, *group_);
    *result = model.forward(batch, {1, 1}, {}).logits;
  }
  EXPECT_TRUE(all.equal(first));
}

TEST_F(StepsAtEvaluation, CannotExceedTheLearnedSignals) {
  options_.step_signal = StepSignal::learned;
  logits(1, 1);
  logits(options_.encoder_steps, options_.decoder_steps);
  using tests::bad_input;
  EXPECT_THAT(tests::bad_input([&] { logits(options_.encoder_steps + 1, 1); }), testing::HasSubstr("--steps 4"));
  EXPECT_THAT(tests::bad_input([&] { logits(1, options_.decoder_steps + 1); }), testing::HasSubstr("--steps 3"));
}

}  // namespace
}  // namespace ut::core
