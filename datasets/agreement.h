#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/missing_word.h"

namespace ut::datasets {

/// Subject-verb agreement as number prediction (review version, section 3.2; Linzen, Dupoux and Goldberg, 2016): from
/// the words before a verb whether it is singular (VBZ) or plural (VBP). Reads the numpred.* files of the data's
/// authors: train, val and test.0 to test.5, of which the number is that of nouns of the other number between subject
/// and verb (attractors), after which the test examples are grouped. Without numpred.train the lines of numpred.val are
/// the training examples but for about a tenth, by a hash of the line, which is the validation split.
class Agreement final : public MissingWord {
 public:
  /// Uses data. Throws base::BadInput naming file and line, or what is missing.
  explicit Agreement(const TaskOptions& options);

  std::string description() const override;
  /// By attractors; the last is that of the training and validation examples, of which the files do not say.
  std::vector<std::string> groups() const override;

 private:
  void read_training(const std::filesystem::path& directory);
  void read_tests(const std::filesystem::path& directory);

  std::string directory_;
  std::vector<std::string> missing_;  // files that can be done without
};

}  // namespace ut::datasets
