#pragma once

#include <memory>
#include <vector>

#include "core/model.h"
#include "core/optimizer.h"
#include "datasets/batch.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// What an update worked on here, and the steps that its rows took.
struct UpdateMade {
  core::Batch rows;
  // Undefined of a stack that is not there, or takes no steps.
  at::Tensor encoder_updates;  // [source rows] int64
  at::Tensor decoder_updates;  // [target rows] int64
};

/// A model that `ut bench` trains or tries on one batch, again and again.
class BenchRun {
 public:
  explicit BenchRun(Session& session);

  /// What is measured: one whole update, as in training, or the greedy decoding of the batch. Collective.
  UpdateMade once() { return session_.options.bench.decode ? decode() : update(); }

  const core::Model& model() const { return *model_; }
  const datasets::Batch& batch() const { return batch_; }
  /// That an update works on, or that are decoded.
  std::int64_t symbols() const;

 private:
  UpdateMade update();
  UpdateMade decode();
  /// Forward, loss, backward.
  UpdateMade add_gradients(dist::GradientSynchronisation& synchronisation);

  Session& session_;
  std::vector<datasets::Example> examples_;  // of all ranks
  datasets::Batch batch_;                    // how large they are
  std::unique_ptr<core::Model> model_;
  core::Adam optimizer_;
};

}  // namespace ut::launcher
