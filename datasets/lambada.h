#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/missing_word.h"

namespace ut::datasets {

/// LAMBADA (Paperno et al., 2016) as reading comprehension, as the authors' code has it: from all words of a passage
/// but the last that last word, one class of the vocabulary. A line is a passage, its words with spaces between them.
/// The development file is the validation split. The training text is what the data's directory has of train-novels,
/// train, novels-lambada-style (folders: every .txt file below them, in the order of their paths) and train.txt.
class Lambada final : public MissingWord {
 public:
  /// Uses data and vocabulary_size. Throws base::BadInput naming the option, or the file and line.
  explicit Lambada(const TaskOptions& options);

  std::string description() const override;
  /// Whether the answer is one of the passage's other words.
  std::vector<std::string> groups() const override;

 private:
  void read_passages(Split split, const std::filesystem::path& file);

  std::string directory_;
  std::string training_;
};

}  // namespace ut::datasets
