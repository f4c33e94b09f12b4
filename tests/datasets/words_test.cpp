#include "datasets/words.h"

#include <gtest/gtest.h>

#include "datasets/lines.h"

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

TEST(SplitAtSpaces, TakesAnyWhiteSpaceOfAscii) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(split_at_spaces("  the `` cat\t's \r"), (Pieces{"the", "``", "cat", "'s"}));
  EXPECT_EQ(split_at_spaces("a\u00a0b"), Pieces{"a\u00a0b"});
  EXPECT_EQ(split_at_spaces(" \t"), Pieces{});
}

TEST(ForEachLine, NumbersLinesAndTakesAnyLineBreak) {
  std::string seen;
  for_each_line("a\r\n\nb", [&](std::size_t number, std::string_view line) {
    seen += std::to_string(number) + "[" + std::string(line) + "]";
  });
  EXPECT_EQ(seen, "1[a]2[]3[b]");
}

TEST(ForEachRawLine, LeavesCarriageReturns) {
  std::vector<std::string> lines;
  for_each_raw_line("a\r\nb", [&](std::size_t, std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(lines, (std::vector<std::string>{"a\r", "b"}));
}

TEST(MostFrequentFirst, BreaksTiesAlphabetically) {
  EXPECT_EQ(most_frequent_first({"d", "c", "b", "a"}, {2, 5, 2, 0}), (std::vector<std::string>{"c", "b", "d"}));
}

}  // namespace
}  // namespace ut::datasets
