#include "core/decoding.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

class Decoding : public testing::Test {
 protected:
  Decoding() {
    for (auto& sequence : sequences_) sequence.offset = 0;
  }

  std::vector<std::vector<std::int64_t>> decode(const DecodingOptions& options) const {
    return decode(options, model_->steps());
  }
  std::vector<std::vector<std::int64_t>> decode(const DecodingOptions& options, const Steps& steps) const {
    return found(options, steps).outputs;
  }
  Likeliest found(const DecodingOptions& options, const Steps& steps) const {
    Batch batch;
    add_source(batch, sequences_, *group_);
    return core::decode(*model_, batch, sources_of(sequences_), steps, options, *group_).found;
  }

  /// The likeliest symbol at every place of these targets, in one pass over all of them. [target rows]
  at::Tensor likeliest(const std::vector<std::vector<std::int64_t>>& targets) {
    return likeliest(targets, model_->steps());
  }
  at::Tensor likeliest(const std::vector<std::vector<std::int64_t>>& targets, const Steps& steps) {
    for (std::size_t index = 0; index < targets.size(); ++index) sequences_[index].target = targets[index];
    const Batch batch = make_batch(sequences_, Architecture::encoder_decoder, *group_);
    return model_->forward(batch, steps, {}).logits.argmax(1);
  }

  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
  std::unique_ptr<const UniversalTransformer> model_ = talkative_model();
  std::vector<ExampleSequence> sequences_ = random_sequences(4, 6, 8, small_options());
};

at::Tensor joined(const std::vector<std::vector<std::int64_t>>& outputs) {
  std::vector<std::int64_t> all;
  for (const auto& output : outputs) all.insert(all.end(), output.begin(), output.end());
  return at::tensor(all, at::kLong);
}

TEST_F(Decoding, GivesTheMostLikelySymbolAfterEachOfItsOwn) {
  constexpr std::int64_t longest = 20;  // more than a cache has room for at first
  for (const Halting halting : {Halting::none, Halting::act, Halting::act_copy}) {
    model_ = talkative_model(lively_halting(halting, halting));
    const auto outputs = decode({longest, -1});  // no symbol ends a sequence
    for (const auto& output : outputs) ASSERT_EQ(output.size(), longest);
    EXPECT_TRUE(likeliest(outputs).equal(joined(outputs)));
    EXPECT_GT(std::get<0>(at::_unique(joined(outputs))).numel(), 2) << "outputs that could hide a mistake";
  }
}

TEST_F(Decoding, TakesTheStepsThatItIsAskedFor) {
  const auto trained = decode({12, -1});
  for (const Steps steps : {Steps{5, 2}, Steps{3, 4}, Steps{1, 1}}) {
    const auto outputs = decode({12, -1}, steps);
    EXPECT_TRUE(likeliest(outputs, steps).equal(joined(outputs))) << steps.encoder << " and " << steps.decoder;
    EXPECT_NE(outputs, trained) << "outputs that could hide a mistake";
  }
}

TEST_F(Decoding, RecomputesAllPositionsForEachSymbolWithGlobalHalting) {
  HaltingOptions halting = lively_halting(Halting::act, Halting::act_copy);
  halting.kind = ActKind::global;
  model_ = talkative_model(halting);
  for (const std::int64_t length : {1, 4, 7}) {
    const auto outputs = decode({length, -1});
    const at::Tensor ends = at::arange(length - 1, length * std::ssize(outputs), length);
    EXPECT_TRUE(likeliest(outputs).index_select(0, ends).equal(joined(outputs).index_select(0, ends))) << length;
  }
}

TEST_F(Decoding, StopsEachSequenceAtItsEnd) {
  constexpr std::int64_t longest = 12;
  const auto unended = decode({longest, -1});
  const std::int64_t end = unended[0].back();
  const auto outputs = decode({longest, end});
  std::set<std::size_t> lengths;
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    const auto expected_end = std::ranges::find(unended[index], end);
    EXPECT_EQ(outputs[index], std::vector<std::int64_t>(unended[index].begin(), expected_end)) << index;
    lengths.insert(outputs[index].size());
  }
  EXPECT_GT(lengths.size(), 2U) << "outputs that could hide a mistake";
}

TEST_F(Decoding, ReturnsLogProbabilitiesThatIncludeTheEnd) {
  constexpr std::int64_t longest = 12;
  const std::int64_t end = decode({longest, -1})[0].back();
  for (const std::int64_t beam : {1, 3}) {
    const Likeliest likeliest = found({longest, end, beam, 0.6, {}, true}, model_->steps());
    int ended = 0;
    for (std::size_t index = 0; index < likeliest.outputs.size(); ++index) {
      std::vector<ExampleSequence> one{sequences_[index]};
      one[0].target = likeliest.outputs[index];
      if (one[0].target.size() < longest) one[0].target.push_back(end);
      ended += one[0].target.back() == end ? 1 : 0;
      const at::Tensor symbols = at::tensor(one[0].target, at::kLong).unsqueeze(1);
      const at::Tensor scores =
          model_->forward(make_batch(one, Architecture::encoder_decoder, *group_), model_->steps(), {}).logits;
      EXPECT_NEAR(likeliest.log_probabilities[index],
                  at::log_softmax(scores, 1).gather(1, symbols).sum().item<double>(), 1e-9)
          << index;
    }
    EXPECT_GT(ended, 0);
  }
}

TEST(GatheredOutputs, KeepEverySymbolEvenZero) {
  const auto group = dist::make_single_communicator();
  const Likeliest all = gather_likeliest({{{0, 3}, {}, {5, 0}}, {-1, -2, -3}}, 1, 4, 2, *group);
  EXPECT_EQ(all.outputs, (Outputs{{}, {0, 3}, {}, {5, 0}}));
  EXPECT_THAT(all.log_probabilities, testing::ElementsAre(0, -1, -2, -3));
}

TEST_F(Decoding, GivesNothingForNoSequences) {
  sequences_.clear();
  EXPECT_TRUE(decode({5, 1}).empty());
}

}  // namespace
}  // namespace ut::core
