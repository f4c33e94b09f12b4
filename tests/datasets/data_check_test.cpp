#include "datasets/data_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "datasets/agreement.h"
#include "datasets/dependencies.h"
#include "datasets/subword_training.h"
#include "datasets/subwords.h"
#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/datasets/toy_parallel_text.h"

namespace ut::datasets {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
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
  EXPECT_THAT(found.warnings, Contains(HasSubstr("val.de:3: has more than 9 times as many words")));
  EXPECT_THAT(found.warnings, Contains(HasSubstr("val.de:4: is the same in both languages")));
  EXPECT_THAT(found.errors, ElementsAre(HasSubstr("test.de: 22 lines, but test.en has 21")));
  directory_.write("test.de", "Mono \xff.\n" + test);
  EXPECT_THAT(check("translation").errors, ElementsAre(HasSubstr("test.de:1: is not UTF-8")));
}

TEST_F(CheckedData, TestExamplesThatAreTrainedOnAreFound) {
  write_parallel_text();
  for (const std::string language : {"en", "de"})
    directory_.write("test." + language, "Nothing like it.\n" + base::read_file(directory_ / ("train." + language)));
  EXPECT_THAT(check("translation").warnings,
              Contains(HasSubstr(
                  "200 of the 201 test examples are training examples too; the first is number 1, counted from 0")));
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

TEST_F(CheckedData, OnlyBabiTasksWithFilesAreReported) {
  const std::string one_question = "1 Ada sat.\n2 Who sat?\tAda\n";
  const auto write = [&](const std::string& name) { directory_.write(name, one_question + one_question); };
  write("qa3_train.txt");
  write("qa3_test.txt");
  DataCheck found = check("babi");
  EXPECT_THAT(found.description, Contains(HasSubstr("bAbI task 3 from")));
  EXPECT_THAT(found.description, Not(Contains(HasSubstr("missing"))));
  EXPECT_EQ(found.options, "--task babi --babi-task 3");
  write("qa1_one_train.txt");
  write("qa1_one_test.txt");
  write("qa5_five_test.txt");
  found = check("babi");
  EXPECT_THAT(found.description, Contains(HasSubstr("bAbI tasks 1, 3, 5 from")));
  EXPECT_THAT(found.description, Contains(testing::EndsWith("; missing: qa5_five_train.txt")));
  EXPECT_EQ(found.options, "--task babi --babi-task N, where N is 1, 3 or all");
  for (int task = 1; task <= 20; ++task)
    for (const std::string split : {"train", "test"})
      if (task != 1 && (task != 5 || split == "train"))
        write(fmt::format("qa{}_{}{}.txt", task, task == 5 ? "five_" : "", split));
  found = check("babi");
  EXPECT_THAT(found.description, Contains(HasSubstr("bAbI all tasks from")));
  EXPECT_EQ(found.options, "--task babi --babi-task N, where N is 1 to 20 or all");
}

TEST_F(CheckedData, AnswersThatTheTaskNeverTrainsOnAreCounted) {
  const auto question = [](const std::string& answer) { return "1 Ada sat.\n2 Who sat?\t" + answer + "\n"; };
  directory_.write("qa1_train.txt", question("Ada"));
  directory_.write("qa1_valid.txt", question("Ada"));
  directory_.write("qa1_test.txt", question("Ada") + question("Eve") + question("Bob"));
  directory_.write("qa2_train.txt", question("Bob"));
  for (const std::string split : {"valid", "test"}) directory_.write(fmt::format("qa2_{}.txt", split), question("Bob"));
  directory_.write("qa3_test.txt", question("Eve"));  // without a training file, which the description says
  EXPECT_THAT(check("babi").warnings,
              testing::AllOf(Contains("2 of the 5 test questions have an answer that no training question of their "
                                      "task has, so it is not learned; the first is number 1, counted from 0: 'Eve', "
                                      "task 1"),
                             Not(Contains(HasSubstr("validation questions")))));
}

TEST_F(CheckedData, AgreementSentencesAreReadIfTheyAreAlone) {
  std::string text;
  std::string verbs;
  for (int sentence = 0; sentence < 60; ++sentence) {
    text += fmt::format("the cats by the tree{} sleep well <eos>\n", sentence);
    verbs += "5\tsleep\tsleeps\t1\n";
  }
  directory_.write("subj_agr_filtered.text", text + "a cat sleeps <eos>\n");
  EXPECT_THAT(tasks(), ElementsAre("agreement"));
  EXPECT_THAT(check("agreement").errors, ElementsAre(HasSubstr("subj_agr_filtered.gold: no such file")));
  directory_.write("subj_agr_filtered.gold", verbs + "2\tsleeps\tsleep\t0\n");
  directory_.write("subj_agr_filtered.eval", std::string(1, '\0'));  // nobody reads it
  DataCheck found = check("agreement");
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_THAT(found.description, Contains(HasSubstr("longest target 8, 0.00 % of the target unknown")));
  EXPECT_EQ(found.options, "--task agreement --agreement-form language-model");
  for (const std::string name : {"numpred.train", "numpred.val", "numpred.test.1"})
    directory_.write(name, "VBZ\tthe cat\n");
  found = check("agreement");
  EXPECT_THAT(found.description, Contains(HasSubstr("1 training, 1 validation and 1 test sentences")));
  EXPECT_EQ(found.options, "--task agreement");
}

TEST_F(CheckedData, AgreementIsFoundInTheFoldersOfAFetch) {
  const std::string sentences = "linzen2016_gulordava_filtered_testset/";
  std::string text;
  std::string verbs;
  for (int sentence = 0; sentence < 60; ++sentence) {
    text += fmt::format("the cats by the tree{} sleep well <eos>\n", sentence);
    verbs += "5\tsleep\tsleeps\t1\n";
  }
  directory_.write(sentences + agreement_sentences, text);
  directory_.write(sentences + agreement_verbs, verbs);
  EXPECT_THAT(tasks(), ElementsAre("agreement"));
  EXPECT_EQ(check("agreement").options, "--task agreement --agreement-form language-model");
  for (const std::string name : {"numpred.train", "numpred.val", "numpred.test.1"})
    directory_.write("linzen2016_rnn_agr_simple/" + name, "VBZ\tthe cat\n");
  EXPECT_THAT(tasks(), ElementsAre("agreement"));
  const DataCheck found = check("agreement");
  EXPECT_THAT(found.description, Contains(HasSubstr("1 training, 1 validation and 1 test sentences")));
  EXPECT_EQ(found.options, "--task agreement");
  directory_.write("linzen2016_rnn_agr_simple/numpred.val", "VBD\tthe cat\n");
  EXPECT_THAT(check("agreement").errors, ElementsAre(HasSubstr("numpred.val:1: 'VBD' before the tab")));
}

TEST_F(CheckedData, TheTableOfAgreementIsLookedAt) {
  std::string table = "sentence\tverb_pos\tverb_index\tn_intervening\tn_diff_intervening\n";
  for (int line = 0; line < 500; ++line) table += fmt::format("the cat{} sleeps\tVBZ\t3\t0\t0\n", line);
  directory_.write(dependencies_table, table + "a \xff cat is\tVBZ\t4\t0\t0\n");
  EXPECT_THAT(tasks(), ElementsAre("agreement"));
  const DataCheck found = check("agreement");
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.warnings, Contains(HasSubstr("agr_50_mostcommon_10K.tsv:502: is not UTF-8")));
  EXPECT_THAT(found.description, Contains(HasSubstr("longest source 3 rows")));
  directory_.write(dependencies_table, "sentence\n");
  EXPECT_THAT(check("agreement").errors, ElementsAre(HasSubstr(":1: no column verb_pos")));
}

TEST_F(CheckedData, ControlPassagesAreLookedAt) {
  directory_.write("train.txt", "the cat sat\n\nthe mat sat\n");
  directory_.write("lambada_development_plain_text.txt", "a cat sat\n");
  directory_.write("lambada_test_plain_text.txt", "a mat sat\n");
  EXPECT_THAT(check("lambada").description, Contains(HasSubstr("; 1 training lines of fewer than two words")));
  EXPECT_THAT(check("lambada").description, Not(Contains(HasSubstr("  control: "))));
  const std::string control = "lambada_control_test_data_plain_text.txt";
  directory_.write(control, "a cat sat\nthe mat sat\n");
  DataCheck found = check("lambada");
  EXPECT_THAT(found.description, Contains(HasSubstr("  control: 2 examples, longest source 3 rows")));
  EXPECT_THAT(found.warnings,
              Contains(HasSubstr(
                  "1 of the 2 control examples are training examples too; the first is number 1, counted from 0")));
  directory_.write(control, "a cat sat\nword\n");
  found = check("lambada");
  EXPECT_THAT(found.errors, ElementsAre(HasSubstr(control + ":2: 1 words")));
}

TEST_F(CheckedData, OnlyLambadaFilesThatAreReadAreChecked) {
  const std::string flaw(1, '\0');
  directory_.write("train-novels/one.txt", "the cat sat\nthe \xff sat\n");
  directory_.write("lambada_development_plain_text.txt", "a cat sat\n");
  directory_.write("lambada_test_plain_text.txt", "a mat sat\n");
  for (const std::string name : {"lambada_notes", "notes.txt", "train-novels/README", "train/two.txt", "train.txt"})
    directory_.write(name, flaw);
  DataCheck found = check("lambada");
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("train-novels/one.txt:2: is not UTF-8")));
  EXPECT_EQ(found.options, "--task lambada");
  directory_.write("train-novels/deeper/two.txt", flaw);
  EXPECT_THAT(check("lambada").errors, ElementsAre(HasSubstr("train-novels/deeper/two.txt:1: has a NUL")));
  std::filesystem::rename(directory_ / "train-novels", directory_ / "elsewhere");
  std::filesystem::remove_all(directory_ / "train");
  std::filesystem::remove(directory_ / "train.txt");
  EXPECT_THAT(check("lambada").errors, ElementsAre(HasSubstr("no training text")));
}

TEST_F(CheckedData, EveryFileThatCannotBeReadIsNamed) {
  directory_.write("train.txt", "the cat sat\n");
  const std::string development = "lambada_development_plain_text.txt";
  const std::string test = "lambada_test_plain_text.txt";
  for (const std::string& name : {development, test}) std::filesystem::create_directory(directory_ / name);
  EXPECT_THAT(check("lambada").errors,
              ElementsAre(HasSubstr(development + ": is a directory"), HasSubstr(test + ": is a directory")));
}

TEST_F(CheckedData, ADirectoryOfNothingIsRefused) {
  EXPECT_THAT(tests::bad_input([&] { tasks(); }), HasSubstr("no files of a known task"));
  EXPECT_THAT(check("translation").errors, SizeIs(3));
}

TEST_F(CheckedData, TrainingTextAloneIsToldWhatItLacks) {
  const std::string lacks =
      " alone lacks lambada_development_plain_text.txt and lambada_test_plain_text.txt; for parallel";
  const auto refused = [&] { return tests::bad_input([&] { tasks(); }); };
  directory_.write("train/readme", "no text\n");
  EXPECT_THAT(refused(), Not(HasSubstr("for lambada")));
  directory_.write("train.txt", "the cat sat\n");
  EXPECT_THAT(refused(), HasSubstr("; for lambada, train.txt" + lacks));
  directory_.write("train/deeper/one.txt", "the cat sat\n");
  EXPECT_THAT(refused(), HasSubstr("; for lambada, train" + lacks)) << "which comes before train.txt";
}

TEST_F(CheckedData, DataInSubfoldersIsPointedOut) {
  directory_.write("raw/train.de", "ein Haus\n");
  directory_.write("notes/readme", "a house\n");
  directory_.write("passages/lambada_test_plain_text.txt", "a house\n");
  directory_.write("stories/qa1_one_train.txt", "1 Mary is here.\n");
  EXPECT_THAT(tests::bad_input([&] { tasks(); }),
              EndsWith(fmt::format("; there is data in {}, {}, {}", directory_ / "passages", directory_ / "raw",
                                   directory_ / "stories")));
}

}  // namespace
}  // namespace ut::datasets
