#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/universal_transformer.h"
#include "dist/communicator.h"
#include "tests/golden/comparison.h"
#include "tests/golden/stack_trace.h"

namespace ut::golden {

/// The case's batch: its real rows, and where they stand among the authors' padded ones. With halting all of theirs, as
/// the ponder loss is a mean over padding too.
struct GoldenBatch {
  explicit GoldenBatch(const Case& golden, const core::ModelOptions& options);

  std::unique_ptr<dist::Communicator> group;  // lives as long as the exchanges
  core::Batch batch;
  at::Tensor source_rows;  // [source rows] int64: their numbers among the authors' [sequences * length]
  at::Tensor target_rows;  // [target rows] int64: likewise

 private:
  void add_source(const at::Tensor& ids, const core::ModelOptions& options);
  void add_target(const at::Tensor& ids, const core::ModelOptions& options);
};

struct Prediction {
  StackTrace encoder;
  StackTrace decoder;
  at::Tensor logits;    // of every target row [target rows, vocabulary]
  at::Tensor scores;    // of the rows that are read [labels, vocabulary]
  at::Tensor act_loss;  // of both stacks; scalar, float64; undefined without halting
};

/// The whole model with the case's weights. The authors' target-space embedding, which ours has not, is added to the
/// encoder's input here.
class GoldenModel {
 public:
  GoldenModel(const Case& golden, core::Precision precision);

  /// The model's parts one after the other, every step looked at; the scores by the model's own forward() where nothing
  /// is added.
  Prediction predict(const core::Batch& batch);

  const core::ModelOptions& options() const { return model_.options(); }
  /// All parameters: the model's, and the target-space embedding where there is one.
  std::vector<const core::Parameters*> parameters() const;

 private:
  at::Tensor embed(const core::Batch& batch) const;

  const Case& golden_;
  core::UniversalTransformer model_;
  std::optional<core::Parameters> target_space_;
  at::Tensor target_space_id_;  // [1] int64
};

}  // namespace ut::golden
