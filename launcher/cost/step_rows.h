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
  double queries = 0;       // of this rank, of a sequence
  double keys = 0;          // that such a query attends to, those that a causal mask hides included
  double key_rows = 0;      // rows of all ranks that have keys
  double inner = 0;         // rows of this rank whose first convolution is computed
  bool some_leave = false;  // rows halt and leave after this step
};

/// What a decoder's row attends to of the source.
struct MemoryRows {
  double length = 0;  // of a source sequence, mean; 0: there is none
  double keys = 0;    // that a row attends to, mean over rows
};

/// What rows_of_steps() needs to know of a stack.
struct GivenStack {
  core::Halting halting;
  double length;  // of a sequence, mean
  double keys;    // of a row's own sequence, mean over rows: long sequences have more of both
  std::int64_t steps;
  bool decoder;
};

/// The rows of each step of a stack, on the rank with most.
std::vector<StepRows> rows_of_steps(const Workload& work, const Layout& layout, const GivenStack& stack);

}  // namespace ut::launcher
