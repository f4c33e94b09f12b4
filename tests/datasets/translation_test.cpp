#include "datasets/translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/file.h"
#include "datasets/subword_training.h"
#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/datasets/toy_parallel_text.h"
#include "tests/shared_data.h"

namespace ut::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A directory with parallel text and a subword model of it.
class ParallelText : public testing::Test {
 protected:
  void SetUp() override {
    tests::write_toy_parallel_text(directory_, 200, 20);
    options_.data = directory_.path().string();
    write_model(100);
  }
  void write_model(std::int64_t size, const std::string& kind = "unigram") const {
    directory_.write(subword_model_name, train_subwords(options_, {size, kind, 1}));
  }
  Translation read() const { return Translation(options_); }
  std::string refused() const {
    return tests::bad_input([&] { read(); });
  }

  tests::TemporaryDirectory directory_;
  TaskOptions options_;
};

TEST_F(ParallelText, SourceAndTargetAreThePiecesOfParallelLines) {
  const Translation task = read();
  const ParallelLines lines(find_parallel_files(directory_.path(), "train", "en", "de"));
  ASSERT_EQ(task.size(Split::train), 200);
  for (const std::int64_t index : {0, 7, 199}) {
    Example example = task.example(Split::train, index);
    EXPECT_EQ(example.target.back(), end_of_sequence_id);
    EXPECT_EQ(example.source.back(), std::vector<std::int64_t>{end_of_sequence_id});
    std::vector<std::int64_t> source;
    for (const auto& row : example.source) source.insert(source.end(), row.begin(), row.end());
    const auto line = static_cast<std::size_t>(index);
    EXPECT_EQ(task.render(source), lines.source(line));
    EXPECT_EQ(task.render(example.target), lines.target(line));
    EXPECT_EQ(task.parse(std::string(lines.source(line))).source, example.source);
  }
  EXPECT_THROW(task.example(Split::train, 200), std::out_of_range);
  EXPECT_EQ(task.right_text(Split::test, 3),
            ParallelLines(find_parallel_files(directory_.path(), "test", "en", "de")).target(3));
}

TEST_F(ParallelText, BothLanguagesShareTheVocabularyOfTheModel) {
  const Translation task = read();
  EXPECT_EQ(task.vocabulary().size(), 100);
  EXPECT_EQ(task.vocabulary().id("<unk>"), 2);
  const std::string digest = task.vocabulary().digest();
  EXPECT_EQ(read().vocabulary().digest(), digest);
  write_model(100);
  EXPECT_EQ(read().vocabulary().digest(), digest) << "the same text gives the same model";
  write_model(90);
  EXPECT_NE(read().vocabulary().digest(), digest);
  write_model(100, "bpe");
  EXPECT_EQ(read().vocabulary().size(), 100);
}

TEST_F(ParallelText, SameWordsCutByOtherRulesAreAnotherVocabulary) {
  const std::vector<std::string> words = {"a", "b"};
  EXPECT_NE(Vocabulary(words, "x").digest(), Vocabulary(words, "y").digest());
  EXPECT_EQ(Vocabulary(words).digest(), Vocabulary(words, "").digest());
}

TEST_F(ParallelText, OnlyTrainingLeavesOutLongAndEmptyPairs) {
  const std::string long_line = "Ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba ba.";
  for (const std::string name : {"train", "test"}) {
    directory_.write(name + ".en", "Bada.\n\n" + long_line + "\nBada.\n");
    directory_.write(name + ".de", "Mono.\nMono.\nMono.\n" + long_line + "\n");
  }
  options_.longest_pair = 20;
  const Translation task = read();
  EXPECT_EQ(task.size(Split::train), 1);
  EXPECT_EQ(task.size(Split::test), 4);
  EXPECT_THAT(task.description(), HasSubstr("left out of training: 2 longer than 20 pieces, 1 empty"));
  EXPECT_EQ(task.example(Split::test, 1).source.size(), 1u);
  EXPECT_TRUE(task.parse("").source.empty());
  EXPECT_TRUE(task.parse(" \t").source.empty());
  const Example kept = task.example(Split::train, 0);
  ASSERT_EQ(kept.source.size(), kept.target.size());
  options_.longest_pair = std::ssize(kept.target) - 1;  // without the end of sequence
  EXPECT_EQ(read().size(Split::train), 1);
  --options_.longest_pair;
  EXPECT_THAT(refused(),
              HasSubstr(fmt::format("--longest-pair {}: no training pairs are left", options_.longest_pair)));
}

TEST_F(ParallelText, SeveralTestSetsAreGroups) {
  for (const std::string language : {"en", "de"}) {
    directory_.write("test_2016." + language, "Bada.\n");
    directory_.write("test.lc." + language, "Bada.\nBada.\n");
    directory_.write("testing." + language, "Bada.\n");
  }
  Translation task = read();
  EXPECT_THAT(task.groups(), ElementsAre("train", "val", "test", "test.lc", "test_2016"));
  EXPECT_EQ(task.size(Split::test), 23);
  EXPECT_EQ(task.example(Split::test, 22).group, 4);
  EXPECT_THAT(task.description(), HasSubstr("200 training, 20 validation, 23 test (test + test.lc + test_2016) pairs"));
  for (const auto& [language, side] : {std::pair("en", "en-test.lc.txt"), std::pair("de", "de-test.lc.txt")})
    directory_.write(side, base::read_file(directory_ / (std::string("test.lc.") + language)));
  EXPECT_EQ(read().size(Split::test), 23);  // the same set under both of its names
  options_.test_sets = {"test", "test_2016", "test"};
  EXPECT_THAT(refused(), HasSubstr("--test-set test,test_2016,test: test is given twice"));
  options_.test_sets = {"test_2016"};
  options_.splits = {Split::test};
  task = read();
  EXPECT_TRUE(task.groups().empty());
  EXPECT_EQ(task.size(Split::test), 1);
  EXPECT_EQ(task.size(Split::train), 0);
}

TEST_F(ParallelText, SetsWithLongerNamesAreReadIfNoneHasThePlainName) {
  for (const std::string language : {"en", "de"})
    for (const std::string set : {"train.tok", "train-small", "val.tok"})
      directory_.write(set + "." + language, "Bada.\n");
  EXPECT_EQ(read().size(Split::train), 200);
  EXPECT_EQ(read().size(Split::validation), 20);
  for (const std::string language : {"en", "de"}) {
    std::filesystem::remove(directory_.path() / ("train." + language));
    std::filesystem::remove(directory_.path() / ("val." + language));
  }
  EXPECT_THAT(read().description(), HasSubstr("2 training (train-small + train.tok), 1 validation, 20 test pairs"));
}

TEST_F(ParallelText, NeedsOnlyTheModelForTypedText) {
  const std::int64_t rows = std::ssize(read().parse("Bada fige.").source);
  options_.sentencepiece = directory_ / subword_model_name;
  options_.data = "/nowhere";
  options_.splits.clear();
  EXPECT_EQ(std::ssize(read().parse("Bada fige.").source), rows);
}

TEST_F(ParallelText, NamesMayBeginWithTheLanguage) {
  for (const std::string set : {"train", "val", "test"})
    for (const auto& [language, side] : {std::pair("en", "src"), std::pair("de", "tgt")})
      std::filesystem::rename(directory_.path() / (set + "." + language),
                              directory_.path() / fmt::format("{}-{}.txt", side, set));
  EXPECT_THAT(refused(), HasSubstr("no file train.en; give --train-set NAME"));
  options_.source_language = "src";
  options_.target_language = "tgt";
  EXPECT_EQ(read().size(Split::train), 200);
}

TEST_F(ParallelText, WhatIsWrongIsNamed) {
  const std::string good = base::read_file(directory_ / "train.de");
  directory_.write("train.de", good + "Mono.\n");
  EXPECT_EQ(refused(), directory_ / "train.de" + ": 201 lines, but train.en has 200; needs a line for each");
  directory_.write("train.de", "\xff" + good);
  EXPECT_THAT(refused(), HasSubstr("train.de:1: "));
  std::filesystem::remove(directory_.path() / "train.de");
  EXPECT_THAT(refused(), HasSubstr("train.de: no such file, but train.en is there"));
  directory_.write("train.de", good);
  directory_.write(subword_model_name, "no model");
  EXPECT_THAT(refused(), HasSubstr("sentencepiece.model: is no SentencePiece model"));
  std::filesystem::remove(directory_.path() / subword_model_name);
  EXPECT_THAT(refused(), HasSubstr("sentencepiece.model: no such file; make it with: ut data sentencepiece --data " +
                                   directory_.path().string()));
  std::filesystem::rename(directory_ / "train.en", directory_ / "train.fr");
  EXPECT_THAT(refused(), HasSubstr("no file train.en"));  // from which the model would be made
  std::filesystem::rename(directory_ / "train.fr", directory_ / "train.en");
  EXPECT_THAT(tests::bad_input([&] {
                train_subwords(options_, {100000, "unigram", 1});
              }),
              HasSubstr("--vocabulary-size 100000"));
  EXPECT_THAT(tests::bad_input([&] { train_subwords(options_, {3, "unigram", 1}); }), HasSubstr("--vocabulary-size 3"));
  EXPECT_THAT(tests::bad_input([&] {
                train_subwords(options_, {4, "unigram", 1});
              }),
              testing::AllOf(HasSubstr("--character-coverage"), testing::Not(HasSubstr("_size"))));
  directory_.write("train.de", base::read_file(directory_.path() / "train.de").replace(0, 1, "\xdc"));
  EXPECT_THAT(tests::bad_input([&] {
                train_subwords(options_, {100, "unigram", 1});
              }),
              HasSubstr("train.de:1: is not UTF-8"));
}

/// By default the library leaves out lines of more than 4,192 bytes.
TEST_F(ParallelText, PiecesAreLearnedFromLongLinesToo) {
  std::string line = "first";
  while (line.size() < 5000) line += " again";
  directory_.write("train.en", line + " last\n");
  directory_.write("train.de", "eins\n");
  write_model(100, "word");
  options_.longest_pair = 2000;
  const Translation task = read();
  const std::string symbols = task.vocabulary().text();
  for (const char* word : {"first", "again", "last", "eins"}) EXPECT_THAT(symbols, HasSubstr(word));
}

TEST_F(ParallelText, PiecesNeedText) {
  for (const char* file : {"train.en", "train.de"}) directory_.write(file, "\n\n");
  EXPECT_THAT(tests::bad_input([&] { write_model(100); }), HasSubstr("the training files have no text"));
}

TEST_F(ParallelText, WordsMayBeThePieces) {
  write_model(8000, "word");
  const Translation task = read();
  const Example example = task.example(Split::train, 3);
  const ParallelLines lines(find_parallel_files(directory_.path(), "train", "en", "de"));
  EXPECT_EQ(std::ssize(example.source), std::ranges::count(lines.source(3), ' ') + 2) << "with the end";
  EXPECT_EQ(task.render({example.target.begin(), example.target.end() - 1}), lines.target(3));
  EXPECT_LT(task.vocabulary().size(), 8000) << "no more than there are";
}

/// Symbols of one's own may differ in nothing but what Unicode's compatibility takes for the same.
TEST_F(ParallelText, OnlyWordsAsPiecesKeepEveryCharacter) {
  directory_.write("train.en", "  x²\tx2  ① 1 ﬁ fi Ａ A \n");
  directory_.write("train.de", "x² x2 ① 1 ﬁ fi Ａ A\n");
  const auto target = [](const Translation& task) { return task.render(task.example(Split::train, 0).target); };
  write_model(8000, "word");
  const Translation words = read();
  const Example example = words.example(Split::train, 0);
  EXPECT_EQ(target(words), "x² x2 ① 1 ﬁ fi Ａ A");
  EXPECT_EQ(std::set(example.target.begin(), example.target.end()).size(), 8U + 1) << "with the end";
  std::vector<std::int64_t> source;
  for (const auto& row : example.source) source.insert(source.end(), row.begin(), row.end());
  EXPECT_EQ(source, example.target) << "white space beyond a space tells no words apart";
  write_model(8000, "char");
  EXPECT_EQ(target(read()), "x2 x2 1 1 fi fi A A");
}

class PublishedTranslation : public tests::SharedData<PublishedTranslation> {
 public:
  static constexpr const char* archives[] = {"multi30k-ende.tar.xz", "iwslt14-deen.tar.xz",
                                             "wmt14-ende-newstest.tar.xz"};

 protected:
  static std::size_t pairs(const std::string& directory, const std::string& set, const std::string& source = "en",
                           const std::string& target = "de") {
    return ParallelLines(find_parallel_files(unpacked->path() / directory, set, source, target)).size();
  }
};

TEST_F(PublishedTranslation, HasItsCounts) {
  using LinesOfFiles = std::map<std::string, std::size_t>;
  for (const auto& [set, count] : LinesOfFiles{{"train", 29000},
                                               {"val", 1014},
                                               {"test_2016_flickr", 1000},
                                               {"test_2017_flickr", 1000},
                                               {"test_2017_mscoco", 461},
                                               {"test_2018_flickr", 1071}}) {
    EXPECT_EQ(pairs("multi30k-ende/raw", set), count) << set;
    EXPECT_EQ(pairs("multi30k-ende/tok", set + ".lc.norm.tok"), count) << set;
  }
  EXPECT_EQ(pairs("iwslt14-deen", "valid.de-en", "de", "en"), 6969u);
  EXPECT_EQ(pairs("iwslt14-deen", "test.de-en", "de", "en"), 6750u);
  for (const auto& [year, count] : LinesOfFiles{{"2008", 2051},
                                                {"2009", 2525},
                                                {"2010", 2489},
                                                {"2011", 3003},
                                                {"2012", 3003},
                                                {"2013", 3000},
                                                {"2014", 3003}})
    EXPECT_EQ(pairs("wmt14-ende-newstest/newstest", "newstest" + year), count) << year;
  EXPECT_EQ(pairs("wmt14-ende-newstest/newstest2014_filtered2737", "newstest2014.filtered"), 2737u);
  for (const auto& [set, count] : LinesOfFiles{{"train", 10000}, {"val", 3000}, {"test", 2737}})
    EXPECT_EQ(pairs("wmt14-ende-newstest/opennmt_demo", set, "src", "tgt"), count) << set;
  EXPECT_THAT(parallel_sets(unpacked->path() / "multi30k-ende/raw", "test", "en"),
              ElementsAre("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr"));
}

/// Pieces encode a normalised text, in which white space and a few characters differ from the file.
TEST_F(PublishedTranslation, TextComesBackFromItsPieces) {
  TaskOptions options;
  options.data = (unpacked->path() / "multi30k-ende/raw").string();
  options.sentencepiece = *unpacked / "model";
  base::write_file_whole(options.sentencepiece, train_subwords(options, {2000, "unigram", 1}));
  options.splits = {Split::validation, Split::test};
  const Translation task(options);
  EXPECT_EQ(task.size(Split::validation), 1014);
  EXPECT_EQ(task.size(Split::test), 1000 + 1000 + 461 + 1071);
  std::int64_t same = 0;
  for (std::int64_t index = 0; index < task.size(Split::test); ++index)
    same += task.render(task.example(Split::test, index).target) == task.right_text(Split::test, index) ? 1 : 0;
  EXPECT_GT(static_cast<double>(same), 0.97 * static_cast<double>(task.size(Split::test)));
}

}  // namespace
}  // namespace ut::datasets
