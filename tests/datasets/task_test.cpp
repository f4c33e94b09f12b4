#include "datasets/task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "datasets/make_task.h"
#include "datasets/subword_training.h"
#include "datasets/subwords.h"
#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/datasets/toy_parallel_text.h"
#include "tests/temporary_directory.h"

namespace ut::datasets {
namespace {

/// Compares the sizes that the task gives for each split's first examples with those of the examples.
void expect_sizes_of_examples(const Task& task) {
  for (const Split split : all_splits)
    for (std::int64_t index = 0; index < std::min<std::int64_t>(20, task.size(split)); ++index) {
      const ExampleSize said = task.example_size(split, index);
      const ExampleSize is = size_of(task.example(split, index), index);
      EXPECT_EQ(std::tie(said.number, said.source_rows, said.target_rows, said.labels, said.points),
                std::tie(is.number, is.source_rows, is.target_rows, is.labels, is.points))
          << task.description() << ", " << name_of(split) << ", example " << index;
    }
}

TEST(MakeTask, MakesWhatItsNameSays) {
  const tests::TemporaryDirectory directory;
  const std::string story = "1 Ada sat.\n2 Who sat?\tAda\n";
  const std::string passages = "the cat sat\nthe dog sat\nthe cat saw the\n";
  for (const std::string name : {"qa1_train.txt", "qa1_test.txt"}) directory.write(name, story + story);
  for (const std::string name : {"numpred.train", "numpred.val", "numpred.test.1"})
    directory.write(name, "VBZ\tthe cat\n");
  for (const std::string name : {"train.txt", "lambada_development_plain_text.txt", "lambada_test_plain_text.txt"})
    directory.write(name, passages);
  tests::write_toy_parallel_text(directory, 100, 5);
  TaskOptions pairs;
  pairs.data = directory.path().string();
  directory.write(subword_model_name, train_subwords(pairs, {100, "unigram", 1}));
  for (const std::string& name : task_names()) {
    TaskOptions options;
    options.task = name;
    options.data = directory.path().string();
    const auto task = make_task(options);
    EXPECT_EQ(task->has_target(), name != "babi" && name != "agreement" && name != "lambada");
    EXPECT_EQ(task->description().find(name == "babi" ? "bAbI task 1" : name + ":"), 0u) << task->description();
    expect_sizes_of_examples(*task);
    options.babi_memory = 1;
    options.agreement_form = AgreementForm::language_model;
    for (const auto form : {LambadaForm::pointing, LambadaForm::language_model}) {
      options.lambada_form = form;
      expect_sizes_of_examples(*make_task(options));
    }
  }
}

TEST(MakeTask, UnknownNameListsTheRightOnes) {
  TaskOptions options;
  options.task = "sorting";
  const std::string message = tests::bad_input([&] { make_task(options); });
  EXPECT_EQ(message.find("--task sorting: there is no such task; it is one of copy, reverse, addition, babi, "), 0u);
  for (const std::string& name : task_names()) EXPECT_NE(message.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace ut::datasets
