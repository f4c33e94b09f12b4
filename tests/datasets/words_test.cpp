#include "datasets/words.h"

#include <gtest/gtest.h>

namespace ut::datasets {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, CutsWhereLettersMeetOtherCharacters) {
  EXPECT_EQ(split_words("Mary moved to the hall."), (Words{"Mary", "moved", "to", "the", "hall", "."}));
  EXPECT_EQ(split_words("After that, he left2."), (Words{"After", "that", ",", "he", "left2", "."}));
  EXPECT_EQ(split_words("Really?!  \t yes"), (Words{"Really", "?!", "yes"}));
  EXPECT_EQ(split_words(". ."), (Words{".", "."}));
  EXPECT_EQ(split_words("Füße, née"), (Words{"Füße", ",", "née"}));
  EXPECT_EQ(split_words(" \t "), Words{});
  EXPECT_EQ(split_words(""), Words{});
}

TEST(WordTable, NumbersInOrderOfFirstUse) {
  WordTable table;
  EXPECT_EQ(table.number("b"), 0);
  EXPECT_EQ(table.number("a"), 1);
  EXPECT_EQ(table.number("b"), 0);
  EXPECT_EQ(table.words(), (Words{"b", "a"}));
}

}  // namespace
}  // namespace ut::datasets
