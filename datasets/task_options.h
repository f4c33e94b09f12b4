#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/task.h"

namespace ut::datasets {

enum class AgreementForm { number_prediction, language_model };
enum class LambadaForm { reading, pointing, language_model };
/// Whose generator makes the programs of learning to execute.
enum class ProgramSource { sonnet, zaremba };

/// What `--task` and the options beside it choose.
struct TaskOptions {
  std::string task;                                      // one of task_names()
  std::string data;                                      // directory of files, for tasks that read files
  std::uint64_t seed = 1;                                // of generated examples
  std::int64_t train_length = 40;                        // algorithmic: longest training input
  std::int64_t evaluation_length = 400;                  // algorithmic: longest evaluation input
  std::int64_t train_examples = 100000;                  // generated tasks: number of training examples
  std::int64_t evaluation_examples = 1000;               // generated tasks: number of validation and of test examples
  std::int64_t execute_length = 0;                       // learning to execute: digits of a number; 0: as in the papers
  std::int64_t execute_nesting = 2;                      // learning to execute: operations of a program
  ProgramSource execute_source = ProgramSource::sonnet;  // learning to execute
  std::string babi_task = "1";                           // 1..20, or "all" (joint)
  std::string babi_size = "auto";                        // 1k, 10k; auto: 10k if the directory has it, else 1k
  std::int64_t babi_memory = 0;                          // newest facts kept of a story; 0 keeps all
  std::int64_t vocabulary_size = 60000;                  // lambada: words of the training text that are kept
  AgreementForm agreement_form = AgreementForm::number_prediction;
  double agreement_train_share = 0;  // of the test files, trained on instead of tested
  LambadaForm lambada_form = LambadaForm::reading;
  bool lambada_scores_all_words = false;  // by a language model, instead of a passage's last word only
  std::int64_t lambada_context = 0;       // words before the one asked for, in running text; 0: passages
  std::int64_t lambada_longest = 256;     // most words of a training passage
  std::int64_t lambada_common = 1500;     // the most frequent words, not asked for in running text
  std::int64_t lambada_names = 0;         // how many there are for a passage's words outside the vocabulary
  std::string source_language = "en";     // translation: endings of the files' names
  std::string target_language = "de";
  std::vector<std::string> train_sets;  // translation: names of files without their endings; none: the usual names
  std::vector<std::string> validation_sets;
  std::vector<std::string> test_sets;
  std::string sentencepiece;        // translation: model file; empty: the one in the data's directory
  std::int64_t longest_pair = 256;  // translation: most pieces on either side of a training pair
  /// The splits that are asked for. A task may leave the others empty.
  std::vector<Split> splits = {std::begin(all_splits), std::end(all_splits)};
};

/// `data` as a path. Throws base::BadInput naming --data if it is empty (`files`: what it should hold) or no directory.
std::filesystem::path data_directory(const std::string& data, std::string_view files);

/// Throws base::BadInput naming the option (as typed, with --) if its value is not in low..high.
void check_range(std::string_view option, std::int64_t value, std::int64_t low, std::int64_t high);

}  // namespace ut::datasets
