#include "launcher/bench/bench_examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace ut::launcher {
namespace {

Options options_of(std::int64_t length, std::int64_t min_length) {
  Options options;
  options.batch = 200;
  options.bench.length = length;
  options.bench.min_length = min_length;
  options.bench.vocabulary = 5;
  return options;
}

TEST(BenchExamples, SymbolsAreOfTheVocabularyAndTargetsAsLongAsSources) {
  const std::vector<datasets::Example> examples = bench_examples(options_of(7, 0));
  ASSERT_EQ(examples.size(), 200U);
  std::set<std::int64_t> symbols;
  for (const auto& example : examples) {
    ASSERT_EQ(example.source.size(), 7U);
    ASSERT_EQ(example.target.size(), 7U);
    for (const auto& words : example.source) symbols.insert(words.begin(), words.end());
  }
  EXPECT_THAT(symbols, testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(bench_examples(options_of(7, 0))[9].source, examples[9].source);
}

TEST(BenchExamples, LengthsAreDrawnFromTheShortestToTheLongest) {
  std::set<std::size_t> lengths;
  for (const auto& example : bench_examples(options_of(6, 3))) lengths.insert(example.source.size());
  EXPECT_THAT(lengths, testing::ElementsAre(3, 4, 5, 6));
}

TEST(BenchExamples, AnEncoderAloneHasOneLabelASequence) {
  Options options = options_of(3, 0);
  options.bench.encoder_only = true;
  const std::vector<datasets::Example> examples = bench_examples(options);
  const datasets::Batch batch = datasets::batch_of(examples);
  EXPECT_EQ(batch.target_rows(), 0);
  EXPECT_EQ(batch.labels(), 200);
  for (const auto& example : examples) EXPECT_THAT(example.answer, testing::AllOf(testing::Ge(0), testing::Lt(5)));
}

TEST(BenchExamples, ADecoderAloneHasNoSources) {
  Options options = options_of(3, 0);
  options.bench.decoder_only = true;
  const datasets::Batch batch = datasets::batch_of(bench_examples(options));
  EXPECT_EQ(batch.source_rows(), 0);
  EXPECT_EQ(batch.target_rows(), 600);
  EXPECT_EQ(batch.labels(), 600);
}

}  // namespace
}  // namespace ut::launcher
