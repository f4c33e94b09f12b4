#include "datasets/lambada.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "datasets/batch.h"
#include "tests/bad_input.h"
#include "tests/shared_data.h"

namespace ut::datasets {
namespace {

Lambada read(const std::filesystem::path& directory, std::int64_t vocabulary_size = 60000) {
  TaskOptions options;
  options.data = directory.string();
  options.vocabulary_size = vocabulary_size;
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
  Lambada read(std::int64_t vocabulary_size = 60000) const {
    return datasets::read(directory_.path(), vocabulary_size);
  }
  std::string refused() const {
    return tests::bad_input([&] { read(); });
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(LambadaFiles, TheLastWordIsAskedForAndTheNearestComesFirst) {
  const Lambada task = read();
  ASSERT_EQ(task.size(Split::train), 3);
  const Example example = task.example(Split::train, 0);  // of one.txt: paths in their order
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
  ASSERT_EQ(task.size(Split::train), 1);  // those with dog and sat are left out
  EXPECT_EQ(task.render({task.example(Split::train, 0).answer}), "cat");
  ASSERT_EQ(task.size(Split::validation), 2);
  EXPECT_EQ(task.render({task.example(Split::validation, 0).answer}), "cat");
  const Example unanswerable = task.example(Split::validation, 1);
  EXPECT_EQ(unanswerable.answer, no_answer);
  EXPECT_EQ(Batch({{unanswerable}, {}}).labels(), 0);
  EXPECT_EQ(Batch({{task.example(Split::validation, 0)}, {}}).labels(), 1);
  EXPECT_NE(task.description().find("2 validation and 1 test passages, of which 1 and 0 end with a word outside"),
            std::string::npos)
      << task.description();
}

TEST_F(LambadaFiles, GroupsSayWhetherTheAnswerIsInTheContext) {
  const Lambada task = read();
  EXPECT_EQ(task.groups(), (std::vector<std::string>{"target in context", "target not in context"}));
  EXPECT_EQ(task.example(Split::train, 0).group, 1);
  EXPECT_EQ(task.example(Split::validation, 1).group, 0);  // by the words themselves, though none of them is known
  EXPECT_EQ(task.example(Split::test, 0).group, 0);
  EXPECT_THROW(task.example(Split::test, 1), std::out_of_range);
}

TEST_F(LambadaFiles, BadLinesAndMissingFilesAreNamed) {
  const std::string file = directory_.write("lambada_test_plain_text.txt", "a cat\nword\n").string();
  EXPECT_EQ(refused(), file + ":2: 1 words; a passage is two at least, of which the last is asked for");
  std::filesystem::remove(file);
  EXPECT_EQ(refused(), file + ": no such file");
  directory_.write("lambada_test_plain_text.txt", "a cat\n");
  std::filesystem::remove_all(directory_.path() / "train-novels");
  EXPECT_EQ(refused().find("--data " + directory_.path().string() + ": no training text; it needs one of train-novels"),
            0u);
  std::filesystem::create_directory(directory_.path() / "train");
  EXPECT_NE(refused().find("no .txt files"), std::string::npos);
  std::filesystem::remove(directory_.path() / "train");
  directory_.write("train.txt", "the cat\n");
  EXPECT_EQ(refused(), "");
  EXPECT_EQ(tests::bad_input([&] { read(0); }).find("--vocabulary-size 0: out of range"), 0u);
}

class PublishedLambada : public tests::SharedData<PublishedLambada> {
 public:
  static constexpr const char* archives[] = {"lambada.tar.xz", "novels-lambada-style.tar.xz"};

 protected:
  /// Share of a split's examples for which `holds` is true.
  template <typename Holds>
  static double share(const Lambada& task, Split split, Holds holds) {
    std::int64_t count = 0;
    for (std::int64_t index = 0; index < task.size(split); ++index) count += holds(task.example(split, index)) ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(task.size(split));
  }
};

TEST_F(PublishedLambada, CountsAreThoseOfTheDataBesideTheNovels) {
  std::filesystem::rename(unpacked->path() / "novels-lambada-style", unpacked->path() / "lambada/train-novels");
  const Lambada task = read(unpacked->path() / "lambada");
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
  double longest = 0;
  double words = 0;
  share(task, Split::test, [&](const Example& example) {
    const auto length = static_cast<double>(example.source.size());  // a row for each word but the last, and one for it
    longest = std::max(longest, length);
    words += length;
    return true;
  });
  EXPECT_EQ(longest, 203);
  EXPECT_NEAR(words / 5153, 73.7, 0.05);
}

}  // namespace
}  // namespace ut::datasets
