#include "datasets/vocabulary.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/bad_input.h"
#include "tests/temporary_directory.h"

namespace ut::datasets {
namespace {

using namespace std::string_literals;

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

TEST(Vocabulary, FileGivesItBack) {
  const tests::TemporaryDirectory directory;
  const Vocabulary vocabulary({"Füße", "+", "two words", "."});
  const Vocabulary read = Vocabulary::read(directory.write("words.txt", vocabulary.text()));
  EXPECT_EQ(read.text(), vocabulary.text());
  EXPECT_EQ(read.digest(), vocabulary.digest());
  EXPECT_EQ(read.id("Füße"), 2);
}

TEST(Vocabulary, LineEndsOfOtherSystemsAreTaken) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(Vocabulary::read(directory.write("words.txt", "<pad>\r\n<EOS>\r\na")).text(), "<pad>\n<EOS>\na\n");
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

class MalformedVocabulary : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(MalformedVocabulary, NamesFileAndLine) {
  const tests::TemporaryDirectory directory;
  const auto path = directory.write("words.txt", GetParam().first);
  const std::string message = tests::bad_input([&] { Vocabulary::read(path); });
  EXPECT_EQ(message.find(path.string() + GetParam().second), 0u) << message;
}

INSTANTIATE_TEST_SUITE_P(Files, MalformedVocabulary,
                         testing::Values(std::pair(""s, ":1: the file ends here"s),
                                         std::pair("<pad>\n"s, ":2: the file ends here"s),
                                         std::pair("a\nb\n"s, ":1: 'a'; a vocabulary starts"s),
                                         std::pair("<pad>\na\n"s, ":2: 'a'; a vocabulary starts"s),
                                         std::pair("<pad>\n<EOS>\na\n\nb\n"s, ":4: empty line"s),
                                         std::pair("<pad>\n<EOS>\na\nb\na\n"s, ":5: 'a' was there in line 3"s),
                                         std::pair("<pad>\n<EOS>\na\n<pad>\n"s, ":4: '<pad>' was there in line 1"s),
                                         std::pair("<pad>\n<EOS>\na\0b\n"s, ":3: a NUL"s)));

TEST(Vocabulary, MissingFileIsNamed) {
  EXPECT_NE(tests::bad_input([] { Vocabulary::read("/nowhere/words.txt"); }).find("/nowhere/words.txt"),
            std::string::npos);
}

}  // namespace
}  // namespace ut::datasets
