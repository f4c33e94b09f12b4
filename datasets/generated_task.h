#pragma once

#include <optional>
#include <string>

#include "base/philox.h"
#include "datasets/task.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// A task whose examples are drawn at random, as symbols of a source and a target. An example is a pure function of
/// seed, split and index.
class GeneratedTask : public Task {
 public:
  const Vocabulary& vocabulary() const final { return vocabulary_; }
  std::int64_t words_per_row() const final { return 1; }
  bool has_target() const final { return true; }
  std::int64_t size(Split split) const final;
  /// Throws std::out_of_range if the split has no such index, as does example_size().
  Example example(Split split, std::int64_t index) const final;
  ExampleSize example_size(Split split, std::int64_t index) const final;

 protected:
  /// Numbers of symbols, end of sequence included.
  struct Lengths {
    std::int64_t source;
    std::int64_t target;
  };

  /// Uses the seed and the numbers of examples.
  GeneratedTask(std::string name, Vocabulary vocabulary, const TaskOptions& options);

  virtual Example draw(Split split, base::Random& random) const = 0;
  /// The lengths of what draw() would draw from the same `random`, if they can be told without drawing all of it. Each
  /// rank makes only its own examples, but needs the sizes of all.
  virtual std::optional<Lengths> draw_lengths(Split, base::Random&) const { return std::nullopt; }

  const std::string& name() const { return name_; }
  const TaskOptions& options() const { return options_; }

 private:
  /// Throws std::out_of_range if the split has no such index.
  base::Random random_of(Split split, std::int64_t index) const;

  std::string name_;
  Vocabulary vocabulary_;
  TaskOptions options_;
};

}  // namespace ut::datasets
