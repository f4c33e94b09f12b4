#include "datasets/vocabulary.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace ut::datasets {
namespace {

TEST(Vocabulary, WordsFollowTheReservedSymbols) {
  const Vocabulary vocabulary({"b", "a"});
  EXPECT_EQ(vocabulary.size(), 4);
  EXPECT_EQ(vocabulary.symbol(padding_id), "<pad>");
  EXPECT_EQ(vocabulary.symbol(end_of_sequence_id), "<EOS>");
  EXPECT_EQ(vocabulary.symbol(2), "b");
  EXPECT_EQ(vocabulary.id("a"), 3);
  EXPECT_EQ(vocabulary.id("c"), -1);
  EXPECT_THROW(vocabulary.symbol(4), std::out_of_range);
}

TEST(Vocabulary, TextHasASymbolALine) {
  EXPECT_EQ(Vocabulary({"Füße", "two words"}).text(), "<pad>\n<EOS>\nFüße\ntwo words\n");
}

TEST(Vocabulary, DigestChangesWithSymbolsAndOrder) {
  const std::string digest = Vocabulary({"a", "b"}).digest();
  EXPECT_EQ(digest.size(), 32u);
  EXPECT_EQ(digest, Vocabulary({"a", "b"}).digest());
  EXPECT_NE(digest, Vocabulary({"b", "a"}).digest());
  EXPECT_NE(digest, Vocabulary({"ab"}).digest());
  EXPECT_NE(digest, Vocabulary({"a", "b", "c"}).digest());
}

TEST(Vocabulary, WordsThatNoFileCanHoldThrow) {
  EXPECT_THROW(Vocabulary({"a", "a"}), std::invalid_argument);
  EXPECT_THROW(Vocabulary({"<EOS>"}), std::invalid_argument);
  EXPECT_THROW(Vocabulary({""}), std::invalid_argument);
  EXPECT_THROW(Vocabulary({"a\nb"}), std::invalid_argument);
}

}  // namespace
}  // namespace ut::datasets
