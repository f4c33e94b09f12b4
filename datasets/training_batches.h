#pragma once

#include <cstdint>
#include <vector>

#include "datasets/batch.h"
#include "datasets/sampler.h"
#include "datasets/task.h"

namespace ut::datasets {

/// How many examples an update has.
struct BatchOptions {
  std::int64_t parts = 1;       // micro-batches
  std::int64_t sequences = 32;  // of a part, unless `rows` says otherwise
  std::int64_t rows = 0;        // most rows of a part, source and target together; 0: `sequences` decides
  std::int64_t window = 0;      // with `rows`: successive samples to make parts of like lengths from; 0: some 16 parts
};

/// Where a training run stands in its data.
struct Cursor {
  std::int64_t sample = 0;  // since the start of training: the next one, or the first of the window in use
  std::int64_t part = 0;    // the next part of that window
};

/// The batches of training, one after the other, the same on every rank: a pure function of task, options, seed and
/// cursor. With `rows`, a window of samples is sorted by length and cut into as few parts as it takes, as even as can
/// be, which come in random order. A sequence with more rows than a part may have is a part of its own. Every example
/// comes once an epoch.
class TrainingBatches {
 public:
  /// `task` must outlive this. If the cursor's window does not have the cursor's part, as with other data than it was
  /// recorded with, the next window begins. Throws base::BadInput if the cursor is negative, or has a part although
  /// `rows` is 0; std::invalid_argument if the task has no training example.
  TrainingBatches(const Task& task, const BatchOptions& options, std::uint64_t seed, const Cursor& cursor = {});

  Batch next();
  const Cursor& cursor() const { return cursor_; }

 private:
  using Examples = std::vector<ExampleSize>;

  Examples next_part();
  Examples samples(std::int64_t count);
  void cut_window();
  void leave_window();
  std::int64_t samples_for_window() const;

  const Task& task_;
  BatchOptions options_;
  std::uint64_t seed_;
  Sampler sampler_;
  Cursor cursor_;
  std::vector<Examples> window_;  // parts of the window at the cursor; empty: not cut yet
};

}  // namespace ut::datasets
