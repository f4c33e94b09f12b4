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
  std::int64_t answer = no_answer;                // without target: the class, read at the first source row
  std::int64_t group = 0;                         // index in the task's groups()
  std::int64_t first_label = 0;                   // target rows before this one are read only: they are no labels
  std::int64_t rival = no_answer;  // a label is right if likelier than this symbol; no_answer: than all others
  /// [source rows], if the answer is pointed at: the number, from 0, of the row's word among the example's different
  /// words; no_answer if the row cannot be pointed at. The answer is then such a number. Empty: the answer is a class.
  std::vector<std::int64_t> candidates = {};
};

/// The sizes of an example. Every rank must know those of a whole batch, but needs the words only of examples of which
/// it holds rows.
struct ExampleSize {
  std::int64_t number = 0;  // index in its split
  std::int64_t source_rows = 0;
  std::int64_t target_rows = 0;
  std::int64_t labels = 0;  // target rows that have an answer; without target: 1 if the example has one
  bool points = false;      // the answer is pointed at

  /// Source rows and target rows together.
  std::int64_t rows() const { return source_rows + target_rows; }
};

ExampleSize size_of(const Example& example, std::int64_t number);

/// The examples of one update (or of one step of an evaluation), before any rank takes its share.
/// An example's place here is its identity: dropout, signals and losses are keyed on it.
struct Batch {
  std::vector<ExampleSize> examples;
  std::vector<std::int64_t> parts;  // number of examples of each micro-batch, in this order; in training

  /// The number by which the summed loss is divided.
  std::int64_t labels() const;
  std::int64_t source_rows() const;
  std::int64_t target_rows() const;
  /// Source rows and target rows together.
  std::int64_t rows() const { return source_rows() + target_rows(); }
};

/// A batch of these examples, numbered as they stand.
Batch batch_of(std::span<const Example> examples);

}  // namespace ut::datasets
