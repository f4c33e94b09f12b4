#include "datasets/scoring.h"

#include <gtest/gtest.h>

namespace ut::datasets {
namespace {

TEST(Scoring, NothingCountedIsZero) {
  EXPECT_EQ(Score().symbol_accuracy(), 0);
  EXPECT_EQ(Score().sequence_accuracy(), 0);
}

TEST(Scoring, AddsUpOverSequences) {
  Score score;
  count(score, {5, 6, 7}, {5, 6, 7});
  EXPECT_EQ(score.sequence_accuracy(), 1);
  count(score, {5, 9, 7}, {5, 6, 7});
  EXPECT_EQ(score.symbols, 6);
  EXPECT_EQ(score.right_symbols, 5);
  EXPECT_EQ(score.sequences, 2);
  EXPECT_EQ(score.right_sequences, 1);
  EXPECT_DOUBLE_EQ(score.symbol_accuracy(), 5.0 / 6);
  EXPECT_DOUBLE_EQ(score.sequence_accuracy(), 0.5);
}

TEST(Scoring, MissingAndSuperfluousSymbolsAreWrong) {
  Score too_short;
  count(too_short, {5, 6}, {5, 6, 7, 8});
  EXPECT_EQ(too_short.symbols, 4);
  EXPECT_EQ(too_short.right_symbols, 2);
  EXPECT_EQ(too_short.right_sequences, 0);
  Score too_long;
  count(too_long, {5, 6, 7, 8}, {5, 6});
  EXPECT_EQ(too_long.symbols, 4);
  EXPECT_EQ(too_long.right_symbols, 2);
  EXPECT_EQ(too_long.right_sequences, 0);
}

TEST(Scoring, EmptyAgainstEmptyIsARightSequence) {
  Score score;
  count(score, {}, {});
  EXPECT_EQ(score.symbols, 0);
  EXPECT_EQ(score.sequence_accuracy(), 1);
}

}  // namespace
}  // namespace ut::datasets
