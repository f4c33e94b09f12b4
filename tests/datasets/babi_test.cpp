#include "datasets/babi.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/temporary_directory.h"

namespace ut::datasets {
namespace {

using namespace std::string_literals;

const std::string story =
    "1 Ada went home.\n"
    "2 Bo slept, at last.\n"
    "3 Where is Ada? \thome\t1\n"
    "4 Ada left.\n"
    "5 Who slept?\tBo\t2\n";
const std::string other_story = "1 Cy sat.\n2 Who sat?\tCy\t1\n";

/// A directory of bAbI files, and the task read from it.
class BabiFiles : public testing::Test {
 protected:
  Babi read() const {
    TaskOptions options = options_;
    if (options.data.empty()) options.data = directory_.path().string();
    return Babi(options);
  }

  std::vector<std::string> rows(const Babi& babi, Split split, std::int64_t index) const {
    std::vector<std::string> texts;
    for (const auto& row : babi.example(split, index).source) texts.push_back(babi.render(row));
    return texts;
  }

  tests::TemporaryDirectory directory_;
  TaskOptions options_;
};

using Rows = std::vector<std::string>;

TEST_F(BabiFiles, QuestionComesFirstThenTheNewestFacts) {
  directory_.write("qa1_any-name_train.txt", story);
  directory_.write("qa1_any-name_valid.txt", other_story);
  directory_.write("qa1_any-name_test.txt", other_story);
  const Babi babi = read();
  ASSERT_EQ(babi.size(Split::train), 2);
  EXPECT_EQ(babi.size(Split::validation), 1);
  EXPECT_EQ(babi.size(Split::test), 1);
  EXPECT_EQ(rows(babi, Split::train, 0), (Rows{"Where is Ada ?", "Bo slept , at last .", "Ada went home ."}));
  EXPECT_EQ(rows(babi, Split::train, 1),
            (Rows{"Who slept ?", "Ada left .", "Bo slept , at last .", "Ada went home ."}));
  EXPECT_EQ(babi.render({babi.example(Split::train, 0).answer}), "home");
  EXPECT_EQ(babi.words_per_row(), 6);
  EXPECT_FALSE(babi.has_target());
  EXPECT_THROW(babi.example(Split::train, 2), std::out_of_range);
}

TEST_F(BabiFiles, MemoryKeepsTheNewestFacts) {
  directory_.write("qa1_train.txt", story);
  directory_.write("qa1_valid.txt", other_story);
  directory_.write("qa1_test.txt", other_story);
  const std::string vocabulary = read().vocabulary().text();
  options_.babi_memory = 1;
  const Babi babi = read();
  EXPECT_EQ(rows(babi, Split::train, 0), (Rows{"Where is Ada ?", "Bo slept , at last ."}));
  EXPECT_EQ(rows(babi, Split::train, 1), (Rows{"Who slept ?", "Ada left ."}));
  EXPECT_EQ(babi.parse("Ada left. Bo slept. Who sat?").source.size(), 2u);
  EXPECT_EQ(babi.vocabulary().text(), vocabulary);
}

TEST_F(BabiFiles, VocabularyIsByDescendingCountThenAlphabetically) {
  directory_.write("qa1_train.txt", "1 b b a.\n2 c?\tz\n3 c?\ty\n");  // the fact counts for both questions
  directory_.write("qa1_valid.txt", "1 v.\n2 c?\tz\n");
  directory_.write("qa1_test.txt", "1 t.\n2 c?\tz\n");
  // ? 4, . 4, b 4, c 4; z 3; a 2; t, v, y 1
  EXPECT_EQ(read().vocabulary().text(), "<pad>\n<EOS>\n.\n?\nb\nc\nz\na\nt\nv\ny\n");
}

TEST_F(BabiFiles, WithoutValidationFileTheLastTenthOfTheStoriesIsKeptBack) {
  std::string train;
  for (int number = 0; number < 29; ++number) train += "1 x" + std::to_string(number) + ".\n2 a?\tz\n3 b?\tz\n";
  directory_.write("qa1_train.txt", train);
  directory_.write("qa1_test.txt", other_story);
  const Babi babi = read();
  EXPECT_EQ(babi.size(Split::train), 54);
  ASSERT_EQ(babi.size(Split::validation), 4);
  EXPECT_EQ(rows(babi, Split::train, 53)[1], "x26 .");
  EXPECT_EQ(rows(babi, Split::validation, 0)[1], "x27 .");
  EXPECT_EQ(rows(babi, Split::validation, 3)[1], "x28 .");
}

TEST_F(BabiFiles, OneStoryCannotBeSplit) {
  const auto train = directory_.write("qa1_train.txt", story);
  directory_.write("qa1_test.txt", other_story);
  EXPECT_EQ(tests::bad_input([&] { read(); }).find(train.string() + ": one story only"), 0u);
}

TEST_F(BabiFiles, ListsLoseTheirCommasInTasks8And19AndJointly) {
  for (const std::string task : {"1", "8", "19"}) {
    for (const std::string split : {"train", "valid", "test"})
      directory_.write("qa" + task + "_" + split + ".txt", "1 a b.\n2 c?\tn,w\t1\n");
  }
  const auto answer = [&](const std::string& task) {
    options_.babi_task = task;
    const Babi babi = read();
    return babi.render({babi.example(Split::train, 0).answer});
  };
  EXPECT_EQ(answer("1"), "n,w");
  EXPECT_EQ(answer("8"), "nw");
  EXPECT_EQ(answer("19"), "nw");
  EXPECT_EQ(answer("all"), "nw");
}

TEST_F(BabiFiles, JointTrainingKeepsTheTasksOrderAndNamesMissingFiles) {
  for (const std::string task : {"2", "10"})
    for (const std::string split : {"train", "valid", "test"})
      directory_.write("qa" + task + "_name_" + split + ".txt", "1 t" + task + ".\n2 c?\tz\n");
  std::filesystem::remove(directory_.path() / "qa10_name_test.txt");
  options_.babi_task = "all";
  const Babi babi = read();
  ASSERT_EQ(babi.size(Split::train), 2);
  EXPECT_EQ(rows(babi, Split::train, 0)[1], "t2 .");
  EXPECT_EQ(rows(babi, Split::train, 1)[1], "t10 .");
  EXPECT_EQ(babi.groups().size(), 20U);
  EXPECT_EQ(babi.groups()[static_cast<std::size_t>(babi.example(Split::train, 0).group)], "task 2");
  EXPECT_EQ(babi.groups()[static_cast<std::size_t>(babi.example(Split::train, 1).group)], "task 10");
  EXPECT_EQ(babi.size(Split::test), 1);
  EXPECT_NE(babi.description().find("qa10_name_test.txt"), std::string::npos) << babi.description();
  EXPECT_NE(babi.description().find("tasks 2, 10 from"), std::string::npos) << babi.description();
  for (const char* other : {"qa1_", "qa2_name"})
    EXPECT_EQ(babi.description().find(other), std::string::npos) << babi.description();
}

TEST_F(BabiFiles, CarriageReturnsAndTrailingEmptyLinesAreAccepted) {
  std::string windows;
  for (const char character : story) windows += character == '\n' ? "\r\n"s : std::string(1, character);
  directory_.write("qa1_train.txt", windows + "\r\n\r\n");
  directory_.write("qa1_valid.txt", "1 a.\n2 b?\tz");
  directory_.write("qa1_test.txt", other_story);
  const Babi babi = read();
  EXPECT_EQ(rows(babi, Split::train, 0), (Rows{"Where is Ada ?", "Bo slept , at last .", "Ada went home ."}));
  EXPECT_EQ(babi.render({babi.example(Split::train, 1).answer}), "Bo");
  EXPECT_EQ(babi.size(Split::validation), 1);
}

TEST_F(BabiFiles, TypedStoriesAreRead) {
  directory_.write("qa1_train.txt", story);
  directory_.write("qa1_valid.txt", other_story);
  directory_.write("qa1_test.txt", other_story);
  const Babi babi = read();
  const Example typed = babi.parse("Ada went home. Bo slept, at last.  Where is Ada? ");
  EXPECT_EQ(typed.source, babi.example(Split::train, 0).source);
  EXPECT_TRUE(typed.target.empty());
  EXPECT_EQ(typed.answer, -1);
  EXPECT_EQ(babi.parse("Who sat?").source.size(), 1u);
  EXPECT_EQ(tests::bad_input([&] { babi.parse("Ada went abroad. Who sat?"); }),
            "'abroad': not a word of this data set");
  EXPECT_EQ(tests::bad_input([&] { babi.parse("Ada Ada Ada Ada Ada sat. Who sat?"); }),
            "'Ada Ada Ada Ada Ada sat .': 7 words; a sentence of this data set has at most 6");
  for (const std::string line : {"", "Ada sat.", "Ada sat", "Who sat? Ada sat.", "Who sat? Who sat?", "Who sat? Ada"})
    EXPECT_EQ(tests::bad_input([&] { babi.parse(line); }).find("'" + line + "': needs facts that end with"), 0u)
        << line;
}

TEST_F(BabiFiles, WrongOptionsAndDirectoriesAreNamed) {
  for (const std::string task : {"0", "21", "one", "1x", ""}) {
    options_.babi_task = task;
    EXPECT_EQ(tests::bad_input([&] { read(); }), "--babi-task " + task + ": it is 1 to 20, or all");
  }
  options_.babi_task = "1";
  EXPECT_NE(tests::bad_input([&] { read(); }).find(directory_.path().string() + ": no bAbI files"), std::string::npos);
  options_.data = (directory_.path() / "nowhere").string();
  EXPECT_EQ(tests::bad_input([&] { read(); }),
            "--data " + options_.data + ": no such directory; give that of the bAbI files (qa1_…_train.txt)");
  options_.babi_size = "2k";
  EXPECT_EQ(tests::bad_input([&] { read(); }), "--babi-size 2k: it is 1k, 10k or auto");
  EXPECT_NE(tests::bad_input([] { Babi{TaskOptions{}}; }).find("--data is needed"), std::string::npos);
}

TEST_F(BabiFiles, SizeThatContradictsTheDirectoryIsRefused) {
  for (const std::string split : {"train", "valid", "test"}) {
    directory_.write("en-10k/qa1_" + split + ".txt", story);
    directory_.write("en/qa1_" + split + ".txt", story);
  }
  options_.babi_size = "1k";
  EXPECT_NE(read().description().find("/en:"), std::string::npos);
  options_.data = (directory_.path() / "en-10k").string();
  EXPECT_EQ(tests::bad_input([&] { read(); }).find("--babi-size 1k: --data"), 0u);
  options_.data += '/';
  EXPECT_EQ(tests::bad_input([&] { read(); }).find("--babi-size 1k: --data"), 0u);
  options_.babi_size = "10k";
  EXPECT_EQ(read().size(Split::train), 2);
}

TEST_F(BabiFiles, MissingAndAmbiguousFilesAreNamed) {
  directory_.write("qa2_name_train.txt", story);
  directory_.write("qa12_test.txt", story);
  options_.babi_task = "2";
  EXPECT_NE(tests::bad_input([&] { read(); }).find("/qa2_name_test.txt: no such file"), std::string::npos);
  options_.babi_task = "5";
  EXPECT_NE(tests::bad_input([&] { read(); }).find("/qa5_train.txt: no such file"), std::string::npos);
  directory_.write("qa2_other_train.txt", story);
  options_.babi_task = "2";
  EXPECT_NE(tests::bad_input([&] { read(); }).find("qa2_name_train.txt and qa2_other_train.txt"), std::string::npos);
}

struct Malformed {
  std::string content;
  std::string message;  // what follows the file's name
};

class MalformedBabi : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedBabi, NamesFileAndLine) {
  const tests::TemporaryDirectory directory;
  directory.write("qa1_train.txt", story);
  directory.write("qa1_valid.txt", story);
  const auto file = directory.write("qa1_test.txt", GetParam().content);
  TaskOptions options;
  options.data = directory.path().string();
  const std::string message = tests::bad_input([&] { Babi{options}; });
  EXPECT_EQ(message.find(file.string() + GetParam().message), 0u) << message;
}

INSTANTIATE_TEST_SUITE_P(Files, MalformedBabi,
                         testing::Values(Malformed{"1 a.\nb?\tz\n", ":2: no line number"},
                                         Malformed{"1 a.\n2b?\tz\n", ":2: no line number"},
                                         Malformed{"1 a.\n99999999999999999999 b?\tz\n", ":2: no line number"},
                                         Malformed{" 1 a.\n2 b?\tz\n", ":1: no line number"},
                                         Malformed{"2 a.\n3 b?\tz\n", ":1: number 2; the first line"},
                                         Malformed{"1 a.\n3 b?\tz\n", ":2: number 3 after 1; 2 would continue"},
                                         Malformed{"1 a.\n2 a.\n2 b?\tz\n", ":3: number 2 after 2; 3 would continue"},
                                         Malformed{"1 a.\n0 b?\tz\n", ":2: number 0 after 1"},
                                         Malformed{"1 a.\n-2 b?\tz\n", ":2: number -2 after 1"},
                                         Malformed{"1 a.\n2 b?\t\t1\n", ":2: question without answer"},
                                         Malformed{"1 a.\n2 b?\t \n", ":2: question without answer"},
                                         Malformed{"1 a.\n2 b?\tx y\t1\n", ":2: the answer 'x y' has several words"},
                                         Malformed{"1 a.\n2 \tz\t1\n", ":2: question without words"},
                                         Malformed{"1 a.\n\n2 b?\tz\n", ":2: empty line"},
                                         Malformed{"1 a.\n \r\n\n2 b?\tz\n", ":2: empty line"},
                                         Malformed{"1 a.\n2 b\0?\tz\n"s, ":2: a NUL byte"},
                                         Malformed{"1\n2 b?\tz\n", ":1: statement without"},
                                         Malformed{"1 \n2 b?\tz\n", ":1: statement without"},
                                         Malformed{"1 a.\n2 b? c 1\n3 b?\tc\n", ":2: a question without a tab"},
                                         Malformed{"1 a.\n2 b.\n", ": no questions"}, Malformed{"", ": no questions"},
                                         Malformed{"\n\n", ": no questions"}));

}  // namespace
}  // namespace ut::datasets
