#pragma once

#include <string>

#include "datasets/generated_task.h"
#include "datasets/programs.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// Learning to execute (review version, section 3.5; tables 5 and 6): the source is a program, character by character,
/// the target its output; both end with end_of_sequence_id.
///   program   all operations: + - * if for     control_flow   if and for     addition   +
///   copy      target = the source's digits     doubled        twice          reverse    backwards
/// In training the number of digits and that of nested operations are uniform in 1..limit, each drawn for every
/// example; in validation and test both are the limit. A hash of the source says which split it belongs to, and
/// programs of another split are drawn again: no program is in two splits. A digit alone that is copied, doubled or
/// reversed is not drawn again if the limit is above 1: in training each digit from 1 to 9 is equally frequent, and the
/// other splits have none.
class LearningToExecute final : public GeneratedTask {
 public:
  enum class Kind { program, control_flow, addition, copy, doubled, reverse };

  /// Uses execute_length, execute_nesting, execute_source, the seed and the numbers of examples. Throws base::BadInput
  /// naming the option that is out of range.
  LearningToExecute(Kind kind, const TaskOptions& options);

  std::string description() const override;
  /// A program as the examples have them. Spaces count only in those of Zaremba and Sutskever.
  Example parse(const std::string& line) const override;
  std::string render(const std::vector<std::int64_t>& ids) const override;
  /// For an example of parse(): what a program of the evaluation splits can need.
  std::int64_t longest_output(const Example& example) const override;

 private:
  Example draw(Split split, base::Random& random) const override;
  std::optional<Lengths> draw_lengths(Split split, base::Random& random) const override;
  std::int64_t draw_length(Split split, base::Random& random) const;
  bool is_memorization() const;
  Program draw_program(std::int64_t length, std::int64_t nesting, bool mix, base::Random& random) const;
  std::vector<std::int64_t> ids_of(const std::string& text) const;  // end of sequence included

  Kind kind_;
  bool zaremba_;
  std::int64_t length_;
  std::int64_t nesting_;
};

}  // namespace ut::datasets
