#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/babi_file.h"
#include "datasets/task.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// Questions about stories (bAbI and files of the same format): one task, or all that are there together (joint).
/// Source row 0 holds the words of the question, row 1 those of the newest fact before it, and so on to the oldest. The
/// answer is one word of the vocabulary; lists lose their commas in tasks 8 and 19 and in joint training.
/// The vocabulary holds the words of all splits, the most frequent first. Words that only facts after a story's last
/// question have are left out. Without a validation file the last tenth of the training stories (at least one) is the
/// validation split.
class Babi final : public Task {
 public:
  /// Uses data, babi_task, babi_size and babi_memory. Throws base::BadInput naming the option, or file and line.
  explicit Babi(const TaskOptions& options);

  std::string description() const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::int64_t words_per_row() const override { return words_per_row_; }
  bool has_target() const override { return false; }
  /// The tasks, in joint training.
  std::vector<std::string> groups() const override;
  std::int64_t size(Split split) const override;
  /// Throws std::out_of_range if the split has no such index.
  Example example(Split split, std::int64_t index) const override;
  ExampleSize example_size(Split split, std::int64_t index) const override;

  /// Facts, oldest first, and a question: `Mary moved to the hall. John went home. Where is Mary?`
  Example parse(const std::string& line) const override;

 private:
  struct Place {  // of a question
    std::size_t story;
    std::size_t question;
  };
  /// The questions of one split; sentences hold vocabulary ids once the vocabulary is known.
  struct Part {
    std::vector<BabiStory> stories;
    std::vector<Place> places;
  };

  bool is_joint() const { return task_ == "all"; }
  void read_task(std::int64_t task, WordTable& table);
  void index_questions();
  void number_words(const WordTable& table);
  std::int64_t facts_kept(std::int64_t facts) const;
  std::vector<std::int64_t> ids_of(const std::vector<std::string>& words) const;
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }
  Part& part(Split split) { return parts_[static_cast<std::size_t>(split)]; }

  std::string task_;
  std::int64_t memory_;
  std::filesystem::path directory_;
  std::vector<std::int64_t> tasks_;
  std::vector<std::string> missing_;  // in joint training, missing files of tasks that have others
  std::array<Part, 3> parts_;
  Vocabulary vocabulary_;
  std::int64_t words_per_row_ = 1;
};

}  // namespace ut::datasets
