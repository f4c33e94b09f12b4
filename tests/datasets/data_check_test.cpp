#include "datasets/data_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "datasets/subword_training.h"
#include "datasets/subwords.h"
#include "tests/bad_input.h"
#include "tests/datasets/toy_parallel_text.h"

namespace ut::datasets {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CheckedData : public testing::Test {
 protected:
  DataCheck check(const std::string& task) const {
    TaskOptions options;
    options.task = task;
    options.data = directory_.path().string();
    return check_data(options);
  }
  std::vector<std::string> tasks() const {
    TaskOptions options;
    options.data = directory_.path().string();
    return tasks_of_files(options);
  }
  void write_parallel_text() const {
    tests::write_toy_parallel_text(directory_, 200, 20);
    TaskOptions options;
    options.data = directory_.path().string();
    directory_.write(subword_model_name, train_subwords(options, {100, "unigram", 1}));
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(CheckedData, GoodParallelTextIsDescribed) {
  write_parallel_text();
  EXPECT_THAT(tasks(), ElementsAre("translation"));
  const DataCheck found = check("translation");
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.description, Contains(HasSubstr("train: 200 pairs, longest 6 and 6 words")));
  EXPECT_THAT(found.description, Contains(HasSubstr("200 training, 20 validation, 20 test pairs, 100 symbols")));
  EXPECT_THAT(found.description, Contains(HasSubstr("train: 200 examples, longest source")));
}

TEST_F(CheckedData, EveryFlawOfParallelTextIsNamedWithItsPlace) {
  write_parallel_text();
  const std::string test = base::read_file(directory_ / "test.en");
  directory_.write("val.en", "Bada.\r\n\nBada bada bada bada bada bada bada bada bada bada.\nBada.\n");
  directory_.write("val.de", "Mono.\nMono.\nMono.\nBada.\n");
  directory_.write("test.en", "Bada.\n" + test);
  directory_.write("test.de", "Mono.\nMono \xff.\n" + test);
  const DataCheck found = check("translation");
  EXPECT_THAT(found.warnings, Contains(HasSubstr("val.en:1: ends with a carriage return")));
  EXPECT_THAT(found.warnings, Contains(HasSubstr("val.en:2: is empty")));
  EXPECT_THAT(found.warnings, Contains(HasSubstr("val.de:3: more than 9 times as many words")));
  EXPECT_THAT(found.warnings, Contains(HasSubstr("val.de:4: is the same in both languages")));
  EXPECT_THAT(found.errors, ElementsAre(HasSubstr("test.de: 22 lines, but test.en has 21")));
  directory_.write("test.de", "Mono \xff.\n" + test);
  EXPECT_THAT(check("translation").errors, ElementsAre(HasSubstr("test.de:1: is not UTF-8")));
}

TEST_F(CheckedData, TestsThatAreTrainedOnAreFound) {
  write_parallel_text();
  for (const std::string language : {"en", "de"})
    directory_.write("test." + language, "Nothing like it.\n" + base::read_file(directory_ / ("train." + language)));
  EXPECT_THAT(check("translation").warnings,
              Contains(HasSubstr("200 of the 201 test examples are training examples too; the first is number 2")));
}

TEST_F(CheckedData, OtherTasksAreFoundByTheirFiles) {
  const std::string one_question = "1 Ada sat.\n2 Who sat?\tAda\n";
  directory_.write("qa1_train.txt", one_question + one_question);
  directory_.write("qa1_test.txt", one_question);
  directory_.write("numpred.val", "VBZ\tthe cat\nVBD\tthe dog\n");
  directory_.write("numpred.train", "VBZ\tthe cat\n");
  EXPECT_THAT(tasks(), ElementsAre("babi", "agreement"));
  EXPECT_THAT(check("babi").errors, IsEmpty());
  EXPECT_THAT(check("babi").warnings, Contains(HasSubstr("training examples too")));
  EXPECT_THAT(check("agreement").errors, ElementsAre(HasSubstr("numpred.val:2: 'VBD' before the tab")));
}

TEST_F(CheckedData, ADirectoryOfNothingIsRefused) {
  EXPECT_THAT(tests::bad_input([&] { tasks(); }), HasSubstr("no files of a known task"));
  EXPECT_THAT(check("translation").errors, SizeIs(3));
}

}  // namespace
}  // namespace ut::datasets
