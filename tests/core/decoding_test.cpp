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
    Batch batch;
    add_source(batch, sequences_, *group_);
    return decode_greedily(*model_, batch, sources_of(sequences_), model_->steps(), options, *group_);
  }

  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
  std::unique_ptr<const UniversalTransformer> model_ = talkative_model();
  std::vector<ExampleSequence> sequences_ = random_sequences(4, 6, 8, small_options());
};

TEST_F(Decoding, GivesTheMostLikelySymbolAfterEachOfItsOwn) {
  constexpr std::int64_t longest = 12;
  const auto outputs = decode({longest, -1});  // no symbol ends a sequence
  ASSERT_EQ(outputs.size(), sequences_.size());
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    ASSERT_EQ(outputs[index].size(), longest);
    sequences_[index].target = outputs[index];
  }
  const at::Tensor logits =
      model_->forward(make_batch(sequences_, Architecture::encoder_decoder, *group_), model_->steps(), {});
  std::vector<std::int64_t> all;
  for (const auto& output : outputs) all.insert(all.end(), output.begin(), output.end());
  EXPECT_TRUE(logits.argmax(1).equal(at::tensor(all, at::kLong)));
  EXPECT_GT(std::get<0>(at::_unique(at::tensor(all, at::kLong))).numel(), 2) << "outputs that could hide a mistake";
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

TEST_F(Decoding, OfNoSequencesGivesNone) {
  sequences_.clear();
  EXPECT_TRUE(decode({5, 1}).empty());
}

}  // namespace
}  // namespace ut::core
