#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/universal_transformer.h"
#include "dist/communicator.h"
#include "tests/golden/comparison.h"
#include "tests/golden/stack_trace.h"

namespace ut::golden {

/// The case's batch: its real rows, and their places among the authors' padded rows. With halting it keeps the padded
/// rows, too: the authors' ponder loss is a mean over them as well.
struct GoldenBatch {
  explicit GoldenBatch(const Case& golden, const core::ModelOptions& options);

  std::unique_ptr<dist::Communicator> group;  // lives as long as the exchanges
  core::Batch batch;
  at::Tensor source_rows;  // [source rows] int64: their numbers among the authors' [sequences * length]
  at::Tensor target_rows;  // [target rows] int64: the same for the target

 private:
  void add_source(const at::Tensor& ids, const core::ModelOptions& options);
  void add_target(const at::Tensor& ids, const core::ModelOptions& options);
};

struct Prediction {
  StackTrace encoder;
  StackTrace decoder;
  at::Tensor logits;    // [target rows, vocabulary]: of every target row
  at::Tensor scores;    // [labels, vocabulary]: of the rows that have a label
  at::Tensor act_loss;  // scalar, float64: of both stacks; undefined without halting
};

/// The whole model with the case's weights. Our model has no target-space embedding; if the case has one, it is added
/// to the encoder's input here.
class GoldenModel {
 public:
  GoldenModel(const Case& golden, core::Precision precision);

  /// Runs the model's parts one after the other and records every step. Without halting and target space the scores
  /// come from the model's own forward().
  Prediction predict(const core::Batch& batch);

  const core::ModelOptions& options() const { return model_.options(); }
  /// All parameters: the model's, and the target-space embedding if there is one.
  std::vector<const core::Parameters*> parameters() const;

 private:
  at::Tensor embed(const core::Batch& batch) const;

  const Case& golden_;
  core::UniversalTransformer model_;
  std::optional<core::Parameters> target_space_;
  at::Tensor target_space_id_;  // [1] int64
};

}  // namespace ut::golden
