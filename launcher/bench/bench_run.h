#pragma once

#include <memory>
#include <vector>

#include "core/model.h"
#include "core/optimizer.h"
#include "datasets/batch.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// What this rank worked on in an update, and the steps that its rows took.
struct UpdateMade {
  core::Batch rows;
  // Undefined for a stack that does not exist or takes no steps.
  at::Tensor encoder_updates;  // [source rows] int64
  at::Tensor decoder_updates;  // [target rows] int64
};

/// A model that `ut bench` trains on one batch again and again, or decodes it with.
class BenchRun {
 public:
  explicit BenchRun(Session& session);

  /// Runs what is measured: one whole update, as in training, or the greedy decoding of the batch. Collective.
  UpdateMade once() { return session_.options.bench.decode ? decode() : update(); }

  const core::Model& model() const { return *model_; }
  const datasets::Batch& batch() const { return batch_; }
  /// How many symbols once() works on, or makes when decoding, over all ranks.
  std::int64_t symbols() const;

 private:
  UpdateMade update();
  UpdateMade decode();
  /// Forward, loss, backward.
  UpdateMade add_gradients(dist::GradientSynchronisation& synchronisation);

  Session& session_;
  std::vector<datasets::Example> examples_;  // of all ranks
  datasets::Batch batch_;                    // sizes of the examples of all ranks
  std::unique_ptr<core::Model> model_;
  core::Adam optimizer_;
};

}  // namespace ut::launcher
