#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ut::datasets {

inline constexpr std::int64_t no_answer = -1;

/// One example of a task, as numbers. A source row is a list of word ids: one id for a token, several for a
/// fact of a bAbI story (its words in order). A language model's examples have no source.
struct Example {
  std::vector<std::vector<std::int64_t>> source;  // [source rows][words of the row]
  std::vector<std::int64_t> target;               // [target rows], end of sequence included; empty: see answer
  std::int64_t answer = no_answer;                // class read at the first source row where there is no target
  std::int64_t group = 0;                         // of the task's groups()
  std::int64_t first_label = 0;    // target rows before this one are read and not asked for: they are no labels
  std::int64_t rival = no_answer;  // symbol that a label must be likelier than to be right; no_answer: than all
  /// [source rows], where the answer is pointed at: the number from 0 of the word that stands there among the example's
  /// words; no_answer: none to be pointed at. The answer is such a number then. Empty: it is a class.
  std::vector<std::int64_t> candidates = {};
};

/// How much there is of an example: what every rank has to know of all of a batch, whose words it needs only where it
/// holds rows of theirs.
struct ExampleSize {
  std::int64_t number = 0;  // in its split
  std::int64_t source_rows = 0;
  std::int64_t target_rows = 0;
  std::int64_t labels = 0;  // target rows, or one an example, that have an answer
  bool points = false;      // the answer is pointed at

  /// Source rows and target rows together.
  std::int64_t rows() const { return source_rows + target_rows; }
};

ExampleSize size_of(const Example& example, std::int64_t number);

/// The examples of one update (or of one step of an evaluation), before any rank's share is cut from it.
/// An example's place here is its identity: dropout, signals and losses are keyed on it.
struct Batch {
  std::vector<ExampleSize> examples;
  std::vector<std::int64_t> parts;  // examples of each micro-batch, in this order; in training

  /// What the summed loss is divided by.
  std::int64_t labels() const;
  std::int64_t source_rows() const;
  std::int64_t target_rows() const;
  /// Source rows and target rows together.
  std::int64_t rows() const { return source_rows() + target_rows(); }
};

/// Of examples that are there, numbered as they stand.
Batch batch_of(std::span<const Example> examples);

}  // namespace ut::datasets
