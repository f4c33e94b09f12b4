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
/// Whose programs are learned.
enum class ProgramSource { sonnet, zaremba };

/// What `--task` and the options beside it choose.
struct TaskOptions {
  std::string task;                      // one of task_names()
  std::string data;                      // directory of files, where the task reads files
  std::uint64_t seed = 1;                // of generated examples
  std::int64_t train_length = 40;        // algorithmic: longest training input
  std::int64_t evaluation_length = 400;  // algorithmic: longest evaluation input
  std::int64_t train_examples = 100000;  // generated tasks: how many training examples there are
  std::int64_t evaluation_examples = 1000;
  std::int64_t execute_length = 0;                       // learning to execute: digits of a number; 0: as in the papers
  std::int64_t execute_nesting = 2;                      // learning to execute: operations of a program
  ProgramSource execute_source = ProgramSource::sonnet;  // learning to execute
  std::string babi_task = "1";                           // 1..20, or "all" (joint)
  std::string babi_size = "auto";                        // 1k, 10k; auto: whichever the directory has
  std::int64_t babi_memory = 0;                          // newest facts kept of a story; 0 keeps all
  std::int64_t vocabulary_size = 60000;                  // lambada: words of the training text that are kept
  AgreementForm agreement_form = AgreementForm::number_prediction;
  double agreement_train_share = 0;  // of the test files, trained on instead
  LambadaForm lambada_form = LambadaForm::reading;
  bool lambada_scores_all_words = false;  // of a language model: instead of the last of a passage
  std::int64_t lambada_context = 0;       // words before one, of running text; 0: passages
  std::int64_t lambada_common = 1500;     // of running text, the most frequent words, not asked for
  std::int64_t lambada_names = 0;         // for a passage's words outside the vocabulary
  std::string source_language = "en";     // translation: endings of the files' names
  std::string target_language = "de";
  std::vector<std::string> train_sets;  // translation: names of files without their endings; none: the usual names
  std::vector<std::string> validation_sets;
  std::vector<std::string> test_sets;
  std::string sentencepiece;        // translation: file of the model; empty: the one in the data's directory
  std::int64_t longest_pair = 256;  // translation: most pieces of a side of a pair that is trained on
  /// What is asked for. A task may leave the others empty.
  std::vector<Split> splits = {std::begin(all_splits), std::end(all_splits)};
};

/// `data` as a path. Throws base::BadInput naming --data where it is empty (`files`: what it should hold) or no
/// directory.
std::filesystem::path data_directory(const std::string& data, std::string_view files);

/// Throws base::BadInput naming the option (as typed, with --) where its value is not in low..high.
void check_range(std::string_view option, std::int64_t value, std::int64_t low, std::int64_t high);

}  // namespace ut::datasets
