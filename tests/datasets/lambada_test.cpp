#include "datasets/lambada.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "datasets/batch.h"
#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/shared_data.h"

namespace ut::datasets {
namespace {

Lambada read_lambada(const std::filesystem::path& directory, std::int64_t vocabulary_size = 60000,
                     LambadaForm form = LambadaForm::reading, TaskOptions options = {}) {
  options.data = directory.string();
  options.vocabulary_size = vocabulary_size;
  options.lambada_form = form;
  return Lambada(options);
}

class LambadaFiles : public testing::Test {
 protected:
  void SetUp() override {
    directory_.write("lambada_development_plain_text.txt", "the owl saw the cat\nthe owl saw the owl\n");
    directory_.write("lambada_test_plain_text.txt", "a cat  sat by a cat\r\n");
    directory_.write("train-novels/b/two.txt", "the cat sat\n");
    directory_.write("train-novels/a/one.txt", "the cat and the dog\nthe mat and the cat\n");
    directory_.write("train-novels/README", "no passage");
  }
  Lambada read(std::int64_t vocabulary_size = 60000, LambadaForm form = LambadaForm::reading) const {
    return read_lambada(directory_.path(), vocabulary_size, form, options_);
  }
  std::string refused() const {
    return tests::bad_input([&] { read(); });
  }

  tests::TemporaryDirectory directory_;
  TaskOptions options_;
};

TEST_F(LambadaFiles, LinkedFoldersAreRead) {
  directory_.write("elsewhere/three.txt", "the owl saw the dog\n");
  std::filesystem::create_directory_symlink(directory_ / "elsewhere", directory_ / "train-novels/c");
  EXPECT_EQ(read().size(Split::train), 4);
}

/// Copies of the training text have a whole novel on each line.
TEST_F(LambadaFiles, LongTrainingLinesAreSeveralPassages) {
  directory_.write("train-novels/a/one.txt", "a b c d e f g h i\nthe mat and the cat\n");
  directory_.write("lambada_test_plain_text.txt", "a b c d e f g h i\n");
  options_.lambada_longest = 4;
  const Lambada task = read(60000, LambadaForm::language_model);
  std::vector<std::string> passages;
  for (std::int64_t index = 0; index < task.size(Split::train); ++index)
    passages.push_back(task.render(task.example(Split::train, index).target));
  EXPECT_THAT(passages, testing::ElementsAre("a b c <EOS>", "d e f <EOS>", "g h i <EOS>", "the mat <EOS>",
                                             "and the cat <EOS>", "the cat sat <EOS>"));
  EXPECT_THAT(task.description(), testing::HasSubstr("2 training lines of more than 4 words are cut into passages"));
  EXPECT_EQ(task.size(Split::test), 1) << "what is scored stays whole";
  EXPECT_EQ(task.render({read().example(Split::train, 1).answer}), "f");
}

/// The published novels have a sentence on each line.
TEST_F(LambadaFiles, SentencesAreNamedWhosePunctuationWouldBeLearned) {
  const auto warns = testing::HasSubstr("3 training lines end with punctuation");
  EXPECT_THAT(read().description(), Not(warns));
  directory_.write("train-novels/a/one.txt", "the cat and the dog .\nthe owl ''\nthe mat and the cat\nthe end ?\n");
  EXPECT_THAT(read().description(), warns);
  EXPECT_THAT(read(60000, LambadaForm::language_model).description(), Not(warns));
}

TEST_F(LambadaFiles, TheLastWordIsAskedForAndTheNearestComesFirst) {
  const Lambada task = read();
  ASSERT_EQ(task.size(Split::train), 3);
  const Example example = task.example(Split::train, 0);  // of a/one.txt: files come in the order of their paths
  std::string words;
  for (const auto& row : example.source) words += task.render(row) + " ";
  EXPECT_EQ(words, "<EOS> the and cat the ");
  EXPECT_EQ(task.render({example.answer}), "dog");
  EXPECT_EQ(task.parse("the cat and the").source, example.source);
}

TEST_F(LambadaFiles, VocabularyIsTheMostFrequentTrainingWords) {
  EXPECT_EQ(read().vocabulary().text(), "<pad>\n<EOS>\n<unk>\nthe\ncat\nand\ndog\nmat\nsat\n");
  EXPECT_EQ(read(3).vocabulary().text(), "<pad>\n<EOS>\n<unk>\nthe\ncat\nand\n");
}

TEST_F(LambadaFiles, AnswersOutsideTheVocabularyAreScoredButNotTrainedOn) {
  const Lambada task = read(3);
  ASSERT_EQ(task.size(Split::train), 1);  // the passages that end with dog and sat are left out
  EXPECT_EQ(task.render({task.example(Split::train, 0).answer}), "cat");
  ASSERT_EQ(task.size(Split::validation), 2);
  EXPECT_EQ(task.render({task.example(Split::validation, 0).answer}), "cat");
  const Example unanswerable = task.example(Split::validation, 1);
  EXPECT_EQ(unanswerable.answer, no_answer);
  EXPECT_EQ(size_of(unanswerable, 0).labels, 0);
  EXPECT_EQ(size_of(task.example(Split::validation, 0), 0).labels, 1);
  EXPECT_NE(task.description().find("2 validation and 1 test passages, of which 1 and 0 end with a word outside"),
            std::string::npos)
      << task.description();
}

TEST_F(LambadaFiles, GroupsSayWhetherTheAnswerIsInTheContext) {
  const Lambada task = read();
  EXPECT_EQ(task.groups(), (std::vector<std::string>{"target in context", "target not in context"}));
  EXPECT_EQ(task.example(Split::train, 0).group, 1);
  EXPECT_EQ(task.example(Split::validation, 1).group, 0);  // "owl" stands before, though it is an unknown word
  EXPECT_EQ(task.example(Split::test, 0).group, 0);
  EXPECT_THROW(task.example(Split::test, 1), std::out_of_range);
}

TEST_F(LambadaFiles, BadLinesAndMissingFilesAreNamed) {
  const std::string file = directory_.write("lambada_test_plain_text.txt", "a cat\nword\n").string();
  EXPECT_EQ(refused(), file + ":2: 1 words; a passage has at least two, the last of which is to be predicted");
  std::filesystem::remove(file);
  EXPECT_EQ(refused(), file +
                           ": no such file; --data needs a directory with lambada_development_plain_text.txt, "
                           "lambada_test_plain_text.txt and a training text");
  directory_.write("lambada_test_plain_text.txt", "a cat\n");
  std::filesystem::remove_all(directory_.path() / "train-novels");
  EXPECT_EQ(refused().find("--data " + directory_.path().string() + ": no training text; needs one of train-novels"),
            0u);
  std::filesystem::create_directory(directory_.path() / "train");
  EXPECT_NE(refused().find("no .txt files"), std::string::npos);
  std::filesystem::remove(directory_.path() / "train");
  directory_.write("train.txt", "the cat\n");
  EXPECT_EQ(refused(), "");
}

TEST_F(LambadaFiles, ALanguageModelLearnsAllWordsAndIsAskedForTheLast) {
  const Lambada task = read(3, LambadaForm::language_model);  // vocabulary: the, cat, and
  EXPECT_TRUE(task.has_target());
  EXPECT_FALSE(task.has_source());
  EXPECT_TRUE(task.is_judged_by_loss());
  EXPECT_FALSE(read().is_judged_by_loss());
  ASSERT_EQ(task.size(Split::train), 3);
  const Example learned = task.example(Split::train, 0);
  EXPECT_TRUE(learned.source.empty());
  EXPECT_EQ(task.render(learned.target), "the cat and the <unk> <EOS>");
  EXPECT_EQ(learned.first_label, 0);
  EXPECT_FALSE(task.has_groups(Split::train));
  EXPECT_EQ(size_of(learned, 0).labels, 6);
  const Example asked = task.example(Split::validation, 0);
  EXPECT_EQ(task.render(asked.target), "the <unk> <unk> the cat");
  EXPECT_EQ(asked.first_label, 4);
  EXPECT_TRUE(task.has_groups(Split::validation));
  EXPECT_EQ(asked.rival, no_answer);
  EXPECT_EQ(size_of(asked, 0).labels, 1);
  const Example unanswerable = task.example(Split::validation, 1);  // ends with owl
  EXPECT_EQ(unanswerable.target.back(), no_answer);
  EXPECT_EQ(size_of(unanswerable, 0).labels, 0);
  const Example typed = task.parse("the cat");
  EXPECT_EQ(typed.first_label, 2);
  ASSERT_EQ(typed.target.size(), 3u);
}

TEST_F(LambadaFiles, ALanguageModelIsAskedForAllWordsIfRequested) {
  options_.lambada_scores_all_words = true;
  EXPECT_TRUE(read().has_groups(Split::validation)) << "of another form, which has one label";
  const Lambada task = read(3, LambadaForm::language_model);  // vocabulary: the, cat, and
  const Example asked = task.example(Split::validation, 1);
  EXPECT_EQ(task.render(asked.target), "the <unk> <unk> the <unk> <EOS>");
  EXPECT_EQ(asked.first_label, 0);
  EXPECT_FALSE(task.has_groups(Split::validation)) << "a group would say something of the last word alone";
  const ExampleSize size = task.example_size(Split::validation, 1);
  EXPECT_EQ(size.labels, 6);
  EXPECT_EQ(size.target_rows, 6);
}

/// --lambada-context and --lambada-common belong to another form and have no effect.
TEST_F(LambadaFiles, ALanguageModelLearnsPassagesWhateverTheContext) {
  options_.lambada_context = 4;
  options_.lambada_common = 0;
  const Lambada task = read(3, LambadaForm::language_model);
  ASSERT_EQ(task.size(Split::train), 3);
  EXPECT_EQ(task.render(task.example(Split::train, 0).target), "the cat and the <unk> <EOS>");
}

TEST_F(LambadaFiles, PointingChoosesAmongTheWordsBefore) {
  directory_.write("train-novels/b/two.txt", "the cat sat\nthe mat and the mat\n");
  const Lambada task = read(3, LambadaForm::pointing);
  EXPECT_TRUE(task.points());
  ASSERT_EQ(task.size(Split::train), 1);  // passages whose last word does not stand before are left out
  const Example learned = task.example(Split::train, 0);
  EXPECT_EQ(learned.candidates, (std::vector<std::int64_t>{no_answer, 0, 1, 2, 0}));  // the and mat the, nearest first
  EXPECT_EQ(learned.answer, 2);
  EXPECT_NE(task.description().find("3 such training passages are left out"), std::string::npos) << task.description();
}

TEST_F(LambadaFiles, PointingKnowsUnknownWordsApartBySpelling) {
  directory_.write("train-novels/b/two.txt", "cat sat the cat\n");
  const Lambada task = read(2, LambadaForm::pointing);
  const Example owl = task.example(Split::validation, 1);  // the owl saw the owl
  EXPECT_EQ(owl.candidates, (std::vector<std::int64_t>{no_answer, 0, 1, 2, 0}));
  EXPECT_EQ(owl.answer, 2);
  EXPECT_EQ(owl.source[2], owl.source[3]) << "both unknown";
  EXPECT_EQ(size_of(owl, 0).labels, 1);
  EXPECT_EQ(task.example(Split::validation, 0).answer, no_answer);
  EXPECT_EQ(task.parse("the owl saw the").candidates, owl.candidates);
  directory_.write("train-novels/b/two.txt", "the cat sat\n");
  EXPECT_NE(tests::bad_input([&] { read(2, LambadaForm::pointing); }).find("no training example has an answer"),
            std::string::npos);
}

TEST_F(LambadaFiles, NamesTellUnknownWordsApart) {
  directory_.write("train-novels/b/two.txt", "cat sat the cat\n");
  options_.lambada_names = 2;
  const Lambada task = read(2, LambadaForm::pointing);  // vocabulary: the, cat
  EXPECT_EQ(task.vocabulary().text(), "<pad>\n<EOS>\n<unk>\n<unk-1>\n<unk-2>\nthe\ncat\n");
  const auto words = [&](const Example& example) {
    std::vector<std::string> rows;
    for (const auto& row : example.source) rows.push_back(task.render(row));
    return rows;
  };
  const auto owl = words(task.example(Split::validation, 1));  // the owl saw the
  EXPECT_THAT(owl, testing::ElementsAre("<EOS>", "the", testing::_, testing::_, "the"));
  EXPECT_THAT((std::vector{owl[2], owl[3]}), testing::UnorderedElementsAre("<unk-1>", "<unk-2>"));
  const auto more = words(task.parse("a b c a"));  // two names for three unknown words
  EXPECT_EQ(more[1], more[4]);
  EXPECT_EQ(more[2], "<unk>");
  EXPECT_THAT((std::vector{more[3], more[4]}), testing::UnorderedElementsAre("<unk-1>", "<unk-2>"));
  options_.lambada_names = 20;
  const Lambada other = read(2, LambadaForm::pointing);
  const Example validation = other.example(Split::validation, 1);
  EXPECT_NE(validation.source, other.parse("the owl saw the").source) << "in random order";
  EXPECT_EQ(validation.source, read(2, LambadaForm::pointing).example(Split::validation, 1).source);
  directory_.write("lambada_development_plain_text.txt", "the owl saw the owl\nthe owl saw the owl\n");
  const Lambada twice = read(2, LambadaForm::pointing);
  EXPECT_NE(twice.example(Split::validation, 0).source, twice.example(Split::validation, 1).source)
      << "another order for each";
}

TEST_F(LambadaFiles, RunningTextIsAskedForItsRepeatedWords) {
  directory_.write("train-novels/a/one.txt", "the tall cat and\nthe old dog and the\n\ntall cat ran off\n");
  directory_.write("train-novels/b/two.txt", "cat the tall\n");
  options_.lambada_context = 7;
  options_.lambada_common = 2;  // the most common words: the, cat
  const Lambada task = read();
  ASSERT_EQ(task.size(Split::train), contexts_of_word);  // for the second "and"; "tall" stands too far back
  std::set<std::size_t> lengths;
  for (std::int64_t index = 0; index < contexts_of_word; ++index) {
    const Example example = task.example(Split::train, index);
    std::string text;
    for (auto row = example.source.rbegin(); row + 1 != example.source.rend(); ++row) text += task.render(*row) + " ";
    EXPECT_TRUE(std::string("the tall cat and the old dog ").ends_with(text)) << text;
    EXPECT_EQ(task.render({example.answer}), "and");
    EXPECT_EQ(example.group, 0);
    lengths.insert(example.source.size() - 1);
  }
  EXPECT_GE(*lengths.begin(), 4u);
  EXPECT_LE(*lengths.rbegin(), 7u);
  EXPECT_GT(lengths.size(), 1u);
  EXPECT_THAT(task.description(),
              testing::HasSubstr("4 training passages (train-novels: words that are among the 7 before"));
  options_.lambada_names = 5;
  EXPECT_EQ(read().size(Split::train), contexts_of_word) << "the same words are common where others have names";
  options_.lambada_common = 4;  // the, cat, and, dog, however small the vocabulary
  for (const std::int64_t vocabulary : {60000, 1})
    EXPECT_THAT(tests::bad_input([&] { read(vocabulary, LambadaForm::pointing); }), testing::HasSubstr("needs a word"));
  options_.lambada_common = 2;
  options_.lambada_context = 3;
  EXPECT_THAT(tests::bad_input([&] { read(); }), testing::HasSubstr("needs a word that is among those before"));
}

/// Every word recurs after as many words as a context has at most, so only the longest contexts have the answer.
TEST_F(LambadaFiles, RunningTextIsAskedOnlyForWordsInTheDrawnContext) {
  directory_.write("train-novels/a/one.txt", "a b c d e f g\na b c d e f g\na b c d e f g\na b c d e f g\n");
  directory_.write("train-novels/b/two.txt", "the cat\n");
  options_.lambada_context = 7;
  options_.lambada_common = 0;
  const Lambada task = read();
  EXPECT_NEAR(static_cast<double>(task.size(Split::train)), 21 * contexts_of_word / 4.0, 3 * contexts_of_word);
  for (std::int64_t index = 0; index < task.size(Split::train); ++index) {
    const Example example = task.example(Split::train, index);
    EXPECT_EQ(example.source.back(), std::vector<std::int64_t>{example.answer}) << "farthest back";
  }
}

TEST_F(LambadaFiles, ControlPassagesAreASplitOfTheirOwn) {
  EXPECT_FALSE(read().has_control());
  directory_.write("lambada_control_test_data_plain_text.txt", "the mat\nthe owl\nthe cat\n");
  const Lambada task = read();
  ASSERT_TRUE(task.has_control());
  EXPECT_EQ(task.size(Split::control), 3);
  EXPECT_EQ(task.render({task.example(Split::control, 2).answer}), "cat");
  EXPECT_THAT(task.description(),
              testing::EndsWith("; 3 control passages, 1 of which end with a word outside the vocabulary"));
}

TEST_F(LambadaFiles, TrainingLinesThatAskForNothingAreLeftOut) {
  EXPECT_EQ(read().description().find("fewer than two words"), std::string::npos);
  directory_.write("train-novels/b/two.txt", "chapter\n\nthe cat sat\n \t\n");
  for (const LambadaForm form : {LambadaForm::reading, LambadaForm::language_model}) {
    const Lambada task = read(60000, form);
    EXPECT_EQ(task.size(Split::train), 3);
    EXPECT_EQ(task.vocabulary().id("chapter"), -1);
    EXPECT_NE(task.description().find("; 3 training lines of fewer than two words are left out"), std::string::npos)
        << task.description();
  }
  for (const std::string name : {"development", "test", "control_test_data"}) {
    const std::string file = directory_ / fmt::format("lambada_{}_plain_text.txt", name);
    const std::string before = base::path_exists(file) ? base::read_file(file) : "the cat\n";
    std::ofstream(file) << before << "word\n";
    EXPECT_NE(refused().find(file + ":"), std::string::npos) << refused();
    EXPECT_NE(refused().find(": 1 words; a passage has at least two"), std::string::npos) << refused();
    std::ofstream(file) << before;
  }
}

class PublishedLambada : public tests::SharedData<PublishedLambada> {
 public:
  static constexpr const char* archives[] = {"lambada.tar.xz", "novels-lambada-style.tar.xz"};

 protected:
  /// The directory of the passages, with the novels moved into it.
  static std::filesystem::path files() {
    const auto novels = unpacked->path() / "novels-lambada-style";
    if (std::filesystem::exists(novels)) std::filesystem::rename(novels, unpacked->path() / "lambada/train-novels");
    return unpacked->path() / "lambada";
  }
  /// Share of a split's examples for which `holds` is true.
  template <typename Holds>
  static double share(const Lambada& task, Split split, Holds holds) {
    std::int64_t count = 0;
    for (std::int64_t index = 0; index < task.size(split); ++index) count += holds(task.example(split, index)) ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(task.size(split));
  }
  /// Words in all passages of a split, and the most in one. An example has as many rows as its passage has words.
  static std::pair<std::size_t, std::size_t> words(const Lambada& task, Split split) {
    std::size_t all = 0;
    std::size_t most = 0;
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const std::size_t rows = task.example(split, index).source.size();
      all += rows;
      most = std::max(most, rows);
    }
    return {all, most};
  }
};

TEST_F(PublishedLambada, HasItsCounts) {
  const Lambada task = read_lambada(files());
  EXPECT_EQ(task.size(Split::train), 48516);
  EXPECT_EQ(task.size(Split::validation), 4869);
  EXPECT_EQ(task.size(Split::test), 5153);
  EXPECT_EQ(task.vocabulary().size(), 55785 + 3);
  const auto in_context = [](const Example& example) { return example.group == 0; };
  EXPECT_NEAR(share(task, Split::train, in_context), 0.178, 0.0005);
  EXPECT_NEAR(share(task, Split::validation, in_context), 0.830, 0.0005);
  EXPECT_NEAR(share(task, Split::test, in_context), 0.827, 0.0005);
  const auto unknown = [](const Example& example) { return example.answer == no_answer; };
  EXPECT_EQ(share(task, Split::validation, unknown), 1497.0 / 4869);
  EXPECT_EQ(share(task, Split::test, unknown), 1556.0 / 5153);
  EXPECT_EQ(words(task, Split::train).first, 3868235u);
  EXPECT_EQ(words(task, Split::validation), std::pair(std::size_t{360944}, std::size_t{170}));  // 74.1 a passage
  EXPECT_EQ(words(task, Split::test), std::pair(std::size_t{379883}, std::size_t{203}));        // 73.7
}

TEST_F(PublishedLambada, ContextsHaveTheAnswerAsOftenAsPublished) {
  const Lambada task = read_lambada(files(), 60000, LambadaForm::pointing);
  EXPECT_NEAR(static_cast<double>(task.size(Split::train)) / 48516, 0.178, 0.0005);
  const auto answered = [](const Example& example) { return example.answer != no_answer; };
  EXPECT_EQ(share(task, Split::train, answered), 1);
  EXPECT_NEAR(share(task, Split::validation, answered), 0.830, 0.0005);
  EXPECT_NEAR(share(task, Split::test, answered), 0.827, 0.0005);
}

}  // namespace
}  // namespace ut::datasets
