// How every family of tasks handles files that are not proper text.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <map>

#include "datasets/data_check.h"
#include "datasets/make_task.h"
#include "datasets/subword_training.h"
#include "datasets/subwords.h"
#include "datasets/task.h"
#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/datasets/toy_parallel_text.h"

namespace ut::datasets {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

struct Family {
  std::string task;
  std::map<std::string, std::string> files;  // by name
  std::string altered;                       // name of the file that is made bad
  std::string line;                          // can follow its last line; without the end of line
  std::string beside = {};                   // parallel text: the file that must have as many lines
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's
void PrintTo(const Family& family, std::ostream* stream) { *stream << family.task; }

const std::string& pieces() {
  static const std::string model = [] {
    const tests::TemporaryDirectory directory;
    tests::write_toy_parallel_text(directory, 200, 1);
    TaskOptions options;
    options.data = directory.path().string();
    return train_subwords(options, {60, "bpe", 1});
  }();
  return model;
}

std::vector<Family> families() {
  const std::string stories =
      "1 Mary went home.\n2 Where is Mary?\thome\t1\n1 John went out.\n2 Where is John?\tout\t1\n";
  const std::string prefixes = "VBZ\tthe key\nVBP\tthe keys\nVBZ\tthe dog\n";
  const std::string passages = "the cat saw the cat\nthe dog saw a dog\n";
  return {{"babi", {{"qa1_train.txt", stories}, {"qa1_test.txt", stories}}, "qa1_train.txt", "3 Mary slept."},
          {"agreement",
           {{"numpred.train", prefixes}, {"numpred.val", prefixes}, {"numpred.test.0", prefixes}},
           "numpred.val",
           "VBZ\tMary"},
          {"lambada",
           {{"lambada_development_plain_text.txt", passages},
            {"lambada_test_plain_text.txt", passages},
            {"train.txt", passages}},
           "lambada_test_plain_text.txt",
           "Mary saw Mary"},
          {"translation",
           {{"train.en", "Bada gela.\n"},
            {"train.de", "Mono peru.\n"},
            {"valid.en", "Bada.\n"},
            {"valid.de", "Mono.\n"},
            {"test.en", "Gela bada.\n"},
            {"test.de", "Peru mono.\n"}},
           "test.en",
           "Mary",
           "test.de"}};
}

class BadFiles : public testing::TestWithParam<Family> {
 protected:
  void write(const std::string& folder, const std::map<std::string, std::string>& files) const {
    for (const auto& [name, content] : files) directory_.write(folder + "/" + name, content);
    if (GetParam().task == "translation") directory_.write(folder + "/" + subword_model_name, pieces());
  }
  TaskOptions options(const std::string& folder) const {
    TaskOptions options;
    options.task = GetParam().task;
    options.data = directory_ / folder;
    return options;
  }
  /// The refusal of the family's files with this content in the altered one.
  std::string refused(const std::string& content) const {
    write("altered", GetParam().files);
    directory_.write("altered/" + GetParam().altered, content);
    const std::string& beside = GetParam().beside;
    if (!beside.empty()) directory_.write("altered/" + beside, GetParam().files.at(beside) + "Mono.\n");
    return tests::bad_input([&] { make_task(options("altered")); });
  }
  const std::string& good() const { return GetParam().files.at(GetParam().altered); }
  /// How a message names the line that follows the good ones.
  std::string place() const { return fmt::format("{}:{}: ", GetParam().altered, std::ranges::count(good(), '\n') + 1); }

  tests::TemporaryDirectory directory_;
};

TEST_P(BadFiles, CarriageReturnsAreNoPartOfLines) {
  std::map<std::string, std::string> returned = GetParam().files;
  for (auto& [name, content] : returned)
    for (std::size_t end = 0; (end = content.find('\n', end)) != std::string::npos; end += 2) content.insert(end, "\r");
  write("without", GetParam().files);
  write("with", returned);
  const auto without = make_task(options("without"));
  const auto with = make_task(options("with"));
  EXPECT_EQ(with->vocabulary().text(), without->vocabulary().text());
  for (const Split split : all_splits) {
    ASSERT_EQ(with->size(split), without->size(split));
    for (std::int64_t index = 0; index < with->size(split); ++index) {
      EXPECT_EQ(with->example(split, index).source, without->example(split, index).source);
      EXPECT_EQ(with->example(split, index).target, without->example(split, index).target);
      EXPECT_EQ(with->example(split, index).answer, without->example(split, index).answer);
    }
  }
}

TEST_P(BadFiles, FolderMayHaveAnyName) {
  const std::string folder = "a folder; 'with' $blanks\nand more";
  write(folder, GetParam().files);
  EXPECT_GT(make_task(options(folder))->size(Split::test), 0);
  EXPECT_EQ(check_data(options(folder)).errors, std::vector<std::string>());
}

TEST_P(BadFiles, EmptyFileIsRefused) {
  EXPECT_THAT(refused(""), AnyOf(HasSubstr(GetParam().altered), HasSubstr((directory_ / "altered") + ": no ")));
}

TEST_P(BadFiles, DirectoryInPlaceOfAFileIsNamed) {
  write("altered", GetParam().files);
  std::filesystem::remove(directory_ / ("altered/" + GetParam().altered));
  std::filesystem::create_directories(directory_ / ("altered/" + GetParam().altered));
  EXPECT_THAT(tests::bad_input([&] { make_task(options("altered")); }),
              HasSubstr(GetParam().altered + ": is a directory"));
}

TEST_P(BadFiles, FileInPlaceOfTheDirectoryIsRefused) {
  const std::string file = directory_.write("file", "").string();
  EXPECT_THAT(tests::bad_input([&] { make_task(options("file")); }),
              testing::StartsWith("--data " + file + ": not a directory; needs the directory of the "));
}

TEST_P(BadFiles, NulByteIsRefusedWithItsLine) {
  EXPECT_THAT(refused(good() + GetParam().line + std::string(1, '\0') + "\n"), HasSubstr(place() + "a NUL byte"));
}

TEST_P(BadFiles, InvalidUtf8IsAWordOrRefusedWithItsLine) {
  const std::string message = refused(good() + GetParam().line + "\xff\n");
  if (GetParam().task == "translation")
    EXPECT_THAT(message, AllOf(HasSubstr(place()), HasSubstr("not UTF-8")));
  else
    EXPECT_EQ(message, "");
}

TEST_P(BadFiles, LineOfAHundredMegabytesIsRefusedSoon) {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak of memory
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto begin = std::chrono::steady_clock::now();
  std::string content = good() + GetParam().line;
  content.reserve(content.size() + 100'000'001);
  while (content.size() < 100'000'000) content += " a";
  const std::string message = refused(content + "\n");
  EXPECT_THAT(message, HasSubstr(place() + "a line of 99999"));
  EXPECT_LT(message.size(), 1201);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 500'000);  // KiB, with this test's own text
}

TEST(Pieces, MustOutnumberTheReservedIds) {
  const tests::TemporaryDirectory directory;
  tests::write_toy_parallel_text(directory, 20, 1);
  TaskOptions options;
  options.data = directory.path().string();
  for (const std::int64_t size : {1, 3})
    EXPECT_EQ(tests::bad_input([&] {
                train_subwords(options, {size, "unigram", 1});
              }),
              fmt::format("--vocabulary-size {}: needs more than 3, the number that padding, end and unknown take; "
                          "each character of the text takes one more",
                          size));
  EXPECT_THAT(tests::bad_input([&] {
                train_subwords(options, {4, "unigram", 1});
              }),
              testing::ContainsRegex("can be made of [^ ]+: Vocab"));
}

INSTANTIATE_TEST_SUITE_P(Every, BadFiles, testing::ValuesIn(families()),
                         [](const auto& family) { return family.param.task; });

}  // namespace
}  // namespace ut::datasets
