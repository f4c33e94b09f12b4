#include <fmt/format.h>

#include "datasets/babi_directory.h"
#include "datasets/make_task.h"
#include "datasets/task_options.h"
#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

using datasets::AgreementForm;
using datasets::LambadaForm;
using datasets::ProgramSource;
using datasets::TaskOptions;

constexpr std::int64_t most_examples = 1 << 27;

OptionEntry data_directory() {
  return absolute_path("data", "DIR", "directory of the task's files, for tasks that read files",
                       in(&Options::task, &TaskOptions::data));
}

std::vector<std::string> babi_tasks() {
  std::vector<std::string> names;
  for (std::int64_t task = 1; task <= datasets::babi_task_count; ++task) names.push_back(std::to_string(task));
  names.emplace_back("all");
  return names;
}

OptionEntry babi_task() {
  auto entry = one_of("babi-task", "", in(&Options::task, &TaskOptions::babi_task), babi_tasks());
  entry.placeholder = "N";
  entry.expected = fmt::format("1 to {}, or all", datasets::babi_task_count);
  entry.description = fmt::format("bAbI: {} (joint training)", entry.expected);
  return entry;
}

void add_babi(Table& table) {
  table.add("Task", command_train, true,
            {babi_task(),
             one_of("babi-size", "bAbI: questions per task; auto: 10k if the directory has them",
                    in(&Options::task, &TaskOptions::babi_size), {"auto", "1k", "10k"}),
             whole("babi-memory", "bAbI: how many of a story's newest facts are kept; 0: all",
                   in(&Options::task, &TaskOptions::babi_memory), 0)});
}

void add_agreement(Table& table) {
  table.add("Task", command_train, true,
            {choice("agreement-form",
                    "agreement: predict the verb's number, or learn all words and rank the verb's two forms",
                    in(&Options::task, &TaskOptions::agreement_form),
                    {{"number-prediction", AgreementForm::number_prediction},
                     {"language-model", AgreementForm::language_model}}),
             share("agreement-train-share",
                   "agreement: share of each numpred.test.N that is trained on instead of tested on, if there is no "
                   "numpred.train",
                   in(&Options::task, &TaskOptions::agreement_train_share))});
}

void add_lambada(Table& table) {
  table.add(
      "Task", command_train, true,
      {choice("lambada-form",
              "lambada: predict the last word as a class of the vocabulary, by pointing at a word before "
              "it, or predict every word",
              in(&Options::task, &TaskOptions::lambada_form),
              {{"reading", LambadaForm::reading},
               {"pointing", LambadaForm::pointing},
               {"language-model", LambadaForm::language_model}}),
       whole(
           "lambada-context",
           "lambada: learn from every word of the training text that is also among the N words before it; 0: from the "
           "last word of each line",
           in(&Options::task, &TaskOptions::lambada_context), 0, 1 << 20),
       whole("lambada-longest",
             "lambada: training lines of more than N words are cut into passages of N or fewer; in running text, which "
             "--lambada-context reads, lines do not matter",
             in(&Options::task, &TaskOptions::lambada_longest), 4, 1 << 20),
       whole("lambada-common", "lambada: the N most frequent words, which --lambada-context never asks for",
             in(&Options::task, &TaskOptions::lambada_common), 0, 1 << 24),
       whole("lambada-names",
             "lambada: symbols that tell apart a passage's words outside the vocabulary; 0: one symbol for all of them",
             in(&Options::task, &TaskOptions::lambada_names), 0, 1 << 16),
       whole("vocabulary-size", "lambada: size of the vocabulary, the most frequent words of the training text",
             in(&Options::task, &TaskOptions::vocabulary_size), 1, 1 << 24)});
  table.add(
      "Task", command_train | command_evaluate, true,
      {may_change_on_resume(choice("lambada-scored",
                                   "lambada, language model: which words count for scores and perplexity, the last "
                                   "of each passage or all",
                                   in(&Options::task, &TaskOptions::lambada_scores_all_words),
                                   {{"last-word", false}, {"all-words", true}}))});
}

void add_generated(Table& table) {
  table.add(
      "Task", command_train, true,
      {whole("train-length", "copy, reverse, addition: longest input in training",
             in(&Options::task, &TaskOptions::train_length), 1),
       whole("execute-length", "execute-…: most digits of a number; 0: as in the papers, 5 (copy, double, reverse: 55)",
             in(&Options::task, &TaskOptions::execute_length), 0),
       whole("execute-nesting", "execute-…: how deep a program's operations are nested",
             in(&Options::task, &TaskOptions::execute_nesting), 1),
       choice("execute-source", "execute-program: whose generator of programs",
              in(&Options::task, &TaskOptions::execute_source),
              {{"sonnet", ProgramSource::sonnet}, {"zaremba", ProgramSource::zaremba}}),
       whole("train-examples", "generated tasks: number of training examples",
             in(&Options::task, &TaskOptions::train_examples), 1, most_examples),
       whole("data-seed", "seed of the generated examples", in(&Options::task, &TaskOptions::seed), 0)});
  table.add(
      "Task", command_train | command_evaluate, true,
      {may_change_on_resume(whole("evaluation-length", "copy, reverse, addition: longest input in evaluation",
                                  in(&Options::task, &TaskOptions::evaluation_length), 1)),
       may_change_on_resume(whole("evaluation-examples", "generated tasks: number of examples in each evaluation split",
                                  in(&Options::task, &TaskOptions::evaluation_examples), 1, most_examples))});
}

}  // namespace

/// Which files of a directory hold the same text in two languages. `ut data sentencepiece` takes these options too.
void add_parallel_text(Table& table) {
  table.add("Task", command_train | command_data_sentencepiece | command_data_check, true,
            {path("source-language", "NAME", "translation: ending of the source language's files, such as en",
                  in(&Options::task, &TaskOptions::source_language)),
             path("target-language", "NAME", "translation: ending of the target language's files",
                  in(&Options::task, &TaskOptions::target_language)),
             names("train-set", "translation: files to train on, without their endings; default: train",
                   in(&Options::task, &TaskOptions::train_sets))});
  table.add("Task", command_train | command_data_check, true,
            {may_change_on_resume(
                 absolute_path("sentencepiece", "FILE", "translation: SentencePiece model; default: the one in --data",
                               in(&Options::task, &TaskOptions::sentencepiece))),  // a checkpoint checks its vocabulary
             whole("longest-pair", "translation: pairs with more pieces than this on either side are not trained on",
                   in(&Options::task, &TaskOptions::longest_pair), 1, 1 << 20)});
  table.add("Task", command_train | command_evaluate | command_data_check, true,
            {may_change_on_resume(names("validation-set",
                                        "translation: files to validate on; default: validation, valid, val or dev",
                                        in(&Options::task, &TaskOptions::validation_sets))),
             may_change_on_resume(
                 names("test-set", "translation: files to test on; default: test and names like test.lc or test2016",
                       in(&Options::task, &TaskOptions::test_sets)))});
}

void add_task(Table& table) {
  table.add("Task", command_train, true,
            {without_default(
                one_of("task", "what to learn", in(&Options::task, &TaskOptions::task), datasets::task_names()))});
  table.add("Task", command_data_check, false,
            {without_default(one_of("task", "check this task's files; default: every task whose files are there",
                                    in(&Options::task, &TaskOptions::task), datasets::file_task_names())),
             flag("json", "print a JSON object for each task", &Options::json)});
  table.add("Task", run_commands | command_export | command_report | command_data_sentencepiece | command_data_check,
            true, {may_change_on_resume(data_directory())});
  add_babi(table);
  add_agreement(table);
  add_lambada(table);
  add_generated(table);
}

}  // namespace ut::launcher::option_groups
