#pragma once

#include <cstdint>

#include "core/kernels/dropout_draw.h"

// Work for a device's grid of threads, each of which has its own small part. constexpr, so that it is compiled for the
// host too, where tests run all threads one after the other.
namespace ut::core {

/// A row of a matrix, as dropout identifies it.
struct DrawnRow {
  DropoutDraw draw;
  std::int64_t first_column;  // the number that the row's first column has for dropout
};

/// Identities of the rows of a matrix [rows, columns]. The tables are in memory that the threads can read.
struct RowIdentities {
  const std::int64_t* sequence;  // [rows]
  const std::int64_t* position;  // [rows]

  static constexpr std::int64_t most_first_column_in_block = 0;
  constexpr DrawnRow of(std::int64_t row, const DropoutDraw& draw) const {
    return {draw.of_row(sequence[row], position[row]), 0};
  }
};

/// Identities of the rows of attention weights [sequences, heads, query slots, key slots]: a row is one query in one
/// head.
struct WeightIdentities {
  const std::int64_t* sequence;   // [sequences * query slots]
  const std::int64_t* position;   // [sequences * query slots]
  const std::int64_t* first_key;  // [sequences]: the position of the first key slot
  std::int64_t heads;
  std::int64_t query_slots;
  std::int64_t first_head;

  static constexpr std::int64_t most_first_column_in_block = columns_of_block - 1;
  constexpr DrawnRow of(std::int64_t row, const DropoutDraw& draw) const {
    const std::int64_t index = row / (heads * query_slots);
    const std::int64_t slot = index * query_slots + row % query_slots;
    const std::int64_t head = first_head + row / query_slots % heads;
    return {draw.of_row(sequence[slot], position[slot], static_cast<std::uint32_t>(head)), first_key[index]};
  }
};

/// Dropout of elements of a matrix [rows, columns]: a thread does the columns that one call of Philox decides.
template <class Identities, class Element>
struct DropoutThreads {
  DropoutDraw draw;
  Identities identities;
  Element element;  // element(its number, its column, whether it is kept)
  std::int64_t rows;
  std::int64_t columns;

  constexpr std::int64_t calls_of_row() const {
    const std::int64_t columns_at_most = Identities::most_first_column_in_block + columns;
    return (columns_at_most + columns_of_block - 1) / columns_of_block * lanes_of_block;
  }
  constexpr std::int64_t threads() const { return rows * calls_of_row(); }

  constexpr void run(std::int64_t thread) const {
    const std::int64_t row = thread / calls_of_row();
    const DrawnRow of = identities.of(row, draw);
    const std::int64_t first_call = of.first_column / columns_of_block * lanes_of_block;
    of.draw.decide(static_cast<std::uint32_t>(first_call + thread % calls_of_row()),
                   [&](std::uint32_t drawn_column, bool is_kept) {
                     const std::int64_t column = drawn_column - of.first_column;
                     if (column >= 0 && column < columns) element(row * columns + column, column, is_kept);
                   });
  }
};

// Types for DropoutThreads::element.

/// to = dropout(from)
template <class Number>
struct Keep {
  const Number* from;
  Number scale;
  Number* to;

  constexpr void operator()(std::int64_t number, std::int64_t, bool is_kept) const {
    to[number] = is_kept ? scale * from[number] : Number{0};
  }
};

/// to = x + dropout(y)
template <class Number>
struct AddKept {
  const Number* x;
  const Number* y;
  Number scale;
  Number* to;

  constexpr void operator()(std::int64_t number, std::int64_t, bool is_kept) const {
    to[number] = x[number] + (is_kept ? scale * y[number] : Number{0});
  }
};

/// x = dropout(relu(x + bias))
template <class Number>
struct ReluKeep {
  Number* x;
  const Number* bias;  // [columns]
  Number scale;

  constexpr void operator()(std::int64_t number, std::int64_t column, bool is_kept) const {
    const Number sum = x[number] + bias[column];
    const Number positive = sum < 0 ? Number{0} : sum;  // NaN stays NaN
    x[number] = is_kept ? scale * positive : Number{0};
  }
};

/// result = output <= 0 ? 0 : scale * gradient. A thread does one element.
template <class Number>
struct ScaleWherePositiveThreads {
  const Number* output;
  const Number* gradient;
  Number scale;
  Number* result;
  std::int64_t elements;

  constexpr std::int64_t threads() const { return elements; }
  constexpr void run(std::int64_t thread) const {
    result[thread] = output[thread] <= 0 ? Number{0} : scale * gradient[thread];
  }
};

}  // namespace ut::core
