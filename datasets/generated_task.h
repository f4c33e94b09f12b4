#pragma once

#include <string>

#include "base/philox.h"
#include "datasets/task.h"

namespace ut::datasets {

/// A task whose examples are drawn, symbol by symbol, from source to target. An example is a pure function of seed,
/// split and index.
class GeneratedTask : public Task {
 public:
  const Vocabulary& vocabulary() const final { return vocabulary_; }
  std::int64_t words_per_row() const final { return 1; }
  bool has_target() const final { return true; }
  std::int64_t size(Split split) const final;
  /// Throws std::out_of_range where the split has no such index.
  Example example(Split split, std::int64_t index) const final;

 protected:
  /// Uses the seed and the numbers of examples. Throws base::BadInput naming the option that is out of range.
  GeneratedTask(std::string name, Vocabulary vocabulary, const TaskOptions& options);

  virtual Example draw(Split split, base::Random& random) const = 0;

  const std::string& name() const { return name_; }
  const TaskOptions& options() const { return options_; }

 private:
  std::string name_;
  Vocabulary vocabulary_;
  TaskOptions options_;
};

}  // namespace ut::datasets
