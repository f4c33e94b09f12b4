#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "core/kernels/row_threads.h"

// Work for teams of threads that have a row in common, in stages; on devices all threads wait for one another after
// each stage. constexpr, so that it is compiled for the host too, where tests run stages and threads one after the
// other.
namespace ut::core {

constexpr std::int64_t threads_of_team = 32;

/// What a team's threads share: for each of two sums, every thread's part.
template <class Number>
struct TeamSums {
  std::array<std::array<Number, threads_of_team>, 2> parts;

  constexpr Number& part(std::size_t sum, std::int64_t thread) { return parts[sum][static_cast<std::size_t>(thread)]; }
  constexpr Number total(std::size_t sum) const {
    Number all = 0;
    for (const Number part : parts[sum]) all += part;  // in the same order in every thread
    return all;
  }
};

/// Calls visit(column) for each of a row's columns that is this thread's.
template <class Visit>
constexpr void for_each_own(std::int64_t thread, std::int64_t columns, const Visit& visit) {
  for (std::int64_t column = thread; column < columns; column += threads_of_team) visit(column);
}

/// Layer normalisation of x + dropout(y), all [rows, columns].
template <class Number>
struct NormalisedSumTeams {
  DropoutThreads<RowIdentities, AddKept<Number>> sum;  // into `normalised`; the team shares its threads' work
  const Number* scale;                                 // [columns]
  const Number* bias;                                  // [columns]
  Number epsilon;
  Number* output;
  Number* normalised;  // before scale and bias
  Number* factor;      // [rows]: 1 / sqrt(variance + epsilon)
  std::int64_t rows;
  std::int64_t columns;

  using Sums = TeamSums<Number>;
  static constexpr int stages = 4;
  constexpr void run(int stage, std::int64_t row, std::int64_t thread, Sums& sums) const {
    if (stage == 0) add(row, thread);
    if (stage == 1) sum_up(row, thread, sums);
    if (stage == 2) centre(row, thread, sums);
    if (stage == 3) finish(row, thread, sums);
  }

 private:
  constexpr void add(std::int64_t row, std::int64_t thread) const {
    const std::int64_t calls = sum.calls_of_row();
    for (std::int64_t call = thread; call < calls; call += threads_of_team) sum.run(row * calls + call);
  }

  constexpr void sum_up(std::int64_t row, std::int64_t thread, Sums& sums) const {
    Number part = 0;
    for_each_own(thread, columns, [&](std::int64_t column) { part += normalised[row * columns + column]; });
    sums.part(0, thread) = part;
  }

  constexpr void centre(std::int64_t row, std::int64_t thread, Sums& sums) const {
    const Number mean = sums.total(0) / static_cast<Number>(columns);
    Number squares = 0;
    for_each_own(thread, columns, [&](std::int64_t column) {
      Number& centred = normalised[row * columns + column];
      centred -= mean;
      squares += centred * centred;
    });
    sums.part(1, thread) = squares;
  }

  constexpr void finish(std::int64_t row, std::int64_t thread, const Sums& sums) const {
    const Number of_row = 1 / std::sqrt(sums.total(1) / static_cast<Number>(columns) + epsilon);
    for_each_own(thread, columns, [&](std::int64_t column) {
      const std::int64_t number = row * columns + column;
      normalised[number] *= of_row;
      output[number] = scale[column] * normalised[number] + bias[column];
    });
    if (thread == 0) factor[row] = of_row;
  }
};

/// The backward pass of that, from the gradient of the output to that of the sum, both [rows, columns].
template <class Number>
struct NormalisedSumBackwardTeams {
  const Number* normalised;
  const Number* factor;
  const Number* scale;
  const Number* gradient;
  Number* result;
  std::int64_t rows;
  std::int64_t columns;

  using Sums = TeamSums<Number>;
  static constexpr int stages = 2;
  constexpr void run(int stage, std::int64_t row, std::int64_t thread, Sums& sums) const {
    if (stage == 0) sum(row, thread, sums);
    if (stage == 1) finish(row, thread, sums);
  }

 private:
  constexpr void sum(std::int64_t row, std::int64_t thread, Sums& sums) const {
    Number all = 0;
    Number along = 0;
    for_each_own(thread, columns, [&](std::int64_t column) {
      const std::int64_t number = row * columns + column;
      result[number] = scale[column] * gradient[number];
      all += result[number];
      along += result[number] * normalised[number];
    });
    sums.part(0, thread) = all;
    sums.part(1, thread) = along;
  }

  constexpr void finish(std::int64_t row, std::int64_t thread, const Sums& sums) const {
    const Number mean = sums.total(0) / static_cast<Number>(columns);
    const Number along = sums.total(1) / static_cast<Number>(columns);
    for_each_own(thread, columns, [&](std::int64_t column) {
      const std::int64_t number = row * columns + column;
      result[number] = factor[row] * (result[number] - mean - along * normalised[number]);
    });
  }
};

/// Partial sums of the gradients of scale and bias: a thread computes one column over `rows_at_once` rows.
template <class Number>
struct ScaleAndBiasThreads {
  const Number* normalised;  // [rows, columns]
  const Number* gradient;    // [rows, columns]
  Number* partial;           // [rows / rows_at_once, rounded up, 2, columns]
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t rows_at_once;

  constexpr std::int64_t threads() const { return (rows + rows_at_once - 1) / rows_at_once * columns; }
  constexpr void run(std::int64_t thread) const {
    const std::int64_t chunk = thread / columns;
    const std::int64_t column = thread % columns;
    const std::int64_t end = rows < (chunk + 1) * rows_at_once ? rows : (chunk + 1) * rows_at_once;
    Number of_scale = 0;
    Number of_bias = 0;
    for (std::int64_t row = chunk * rows_at_once; row < end; ++row) {
      const std::int64_t number = row * columns + column;
      of_scale += gradient[number] * normalised[number];
      of_bias += gradient[number];
    }
    partial[2 * chunk * columns + column] = of_scale;
    partial[(2 * chunk + 1) * columns + column] = of_bias;
  }
};

}  // namespace ut::core
