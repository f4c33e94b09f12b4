#pragma once

#include <string>
#include <vector>

#include "datasets/generated_task.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// The algorithmic tasks on decimal digits. Digit n has the id n + 2, the plus sign of an addition the id 12; source
/// and target end with end_of_sequence_id. Lengths are uniform in 1..limit, digits uniform.
///   copy      target = source
///   reverse   target = source backwards
///   addition  source = two numbers with the plus sign between them, target = their sum; the least significant digits
///             come first. No number has a superfluous zero. The first number's length is uniform in 1..limit/2, the
///             second's uniform in what is left.
/// A hash of the source says which split it belongs to. Digits that belong to another split are drawn again; their
/// number is kept, so that lengths stay uniform. So no input is in two splits, except for the ten inputs of one digit:
/// a model that was not shown one of them would be asked for it in a share of all questions.
class Algorithmic final : public GeneratedTask {
 public:
  enum class Kind { copy, reverse, addition };

  /// Takes seed, lengths and numbers of examples from `options`. Split::train uses the longest training input, the
  /// others the longest evaluation input. Throws base::BadInput naming the option that is out of range.
  Algorithmic(Kind kind, const TaskOptions& options);

  std::string description() const override;
  /// copy, reverse: digits, white space ignored. addition: `12+7` as people write it, most significant digit first.
  Example parse(const std::string& line) const override;
  /// The symbols joined by nothing; addition: most significant digit first, as people write it.
  std::string render(const std::vector<std::int64_t>& ids) const override;
  /// For an example of parse(): what the longest evaluation input can need, or more if the example is longer.
  std::int64_t longest_output(const Example& example) const override;

 private:
  Example draw(Split split, base::Random& random) const override;
  std::optional<Lengths> draw_lengths(Split split, base::Random& random) const override;
  std::int64_t limit(Split split) const;
  std::vector<std::int64_t> draw_digit_counts(Split split, base::Random& random) const;

  Kind kind_;
};

}  // namespace ut::datasets
