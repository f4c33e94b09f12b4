#pragma once

#include <future>
#include <vector>

#include "core/batch.h"
#include "datasets/training_batches.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// What one update works on.
struct Input {
  datasets::Batch batch;                   // of all ranks, the same on each
  std::vector<core::Batch> micro_batches;  // this rank's rows of each micro-batch
  datasets::Cursor next;                   // where the next update begins
};

/// The options that decide which examples an update has.
datasets::BatchOptions batch_options(const Options& options);

/// The updates' inputs. Each is made on a thread of its own while the update before is worked on.
class InputAhead {
 public:
  /// Begins with update number `update`, at `cursor`. The session must outlive this.
  InputAhead(const Session& session, std::int64_t update, const datasets::Cursor& cursor);

  /// The next update's input. Throws what making it threw.
  Input next();
  /// Seconds waited in next() so far.
  double waited_seconds() const { return waited_seconds_; }

 private:
  Input make();
  void start();

  const Session& session_;
  std::int64_t update_;  // whose input is made next
  datasets::TrainingBatches batches_;
  double waited_seconds_ = 0;
  std::future<Input> coming_;  // the last member, so that it is waited for before the others go
};

}  // namespace ut::launcher
