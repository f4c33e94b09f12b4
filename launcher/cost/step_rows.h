#pragma once

#include <cstdint>
#include <vector>

#include "launcher/cost/cost_model.h"

namespace ut::launcher {

inline double real(std::int64_t number) { return static_cast<double>(number); }

/// Rows that a rank revises in one step of a stack.
struct StepRows {
  double rows = 0;          // of this rank
  double copied = 0;        // halted rows whose keys and values are made once more
  double sequences = 0;     // of which this rank has rows
  double queries = 0;       // slots of a sequence: the most rows that one has
  double keys = 0;          // slots of a sequence
  bool some_leave = false;  // rows halt and leave after this step
};

/// What rows_of_steps() needs to know of a stack.
struct GivenStack {
  core::Halting halting;
  double length;  // of a sequence, mean
  std::int64_t steps;
  bool decoder;
};

/// The rows of each step of a stack, on the rank with most.
std::vector<StepRows> rows_of_steps(const Workload& work, const Layout& layout, const GivenStack& stack);

}  // namespace ut::launcher
