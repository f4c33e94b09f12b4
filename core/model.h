#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "base/span.h"
#include "core/batch.h"
#include "core/kernels/dropout.h"
#include "core/options.h"
#include "core/parameters.h"
#include "core/prefix_decoder.h"
#include "dist/gradient_synchronisation.h"

namespace ut::core {

/// How many steps each stack takes or, where positions halt, at most.
struct Steps {
  std::int64_t encoder;
  std::int64_t decoder;
};

/// Steps that rows took, and what of it the loss holds down.
struct StackPonder {
  at::Tensor updates;  // [rows] int64
  at::Tensor cost;     // float64, the sum over rows of updates + remainder; undefined without halting
};

/// What a model says of a batch.
struct Prediction {
  at::Tensor logits;    // [labels, vocabulary]: scores of every symbol for the rows that are read (equation 8); where
                        // answers are pointed at [labels, most candidates]
  StackPonder encoder;  // tensors are undefined for a stack that is not there
  StackPonder decoder;
};

/// What is trained, evaluated and decoded with: its parameters, among them the one table that inputs, targets and the
/// softmax share. Works on this rank's rows; meets other ranks only through the exchanges in a batch and, in decoding,
/// in the group of a DecodingShare.
class Model {
 public:
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  /// `synchronisation`, of the update whose last backward pass comes next: may take gradients that are finished early.
  /// Collective among the ranks that share the batch's sequences, as is the backward pass.
  virtual Prediction forward(const Batch& batch, const Steps& steps, const DropoutKey& dropout,
                             dist::GradientSynchronisation* synchronisation = nullptr) const = 0;

  /// Reads a batch's sources, if there are any, to make outputs. Model, batch and group must outlive what it returns.
  /// Collective.
  virtual std::unique_ptr<PrefixDecoder> begin_decoding(const Batch& batch, const Steps& steps,
                                                        const DecodingShare& share) const = 0;
  /// Whether all ranks that share sequences go over all of them together when these are decoded.
  virtual bool decodes_together() const { return false; }

  at::Tensor embed_source(const Batch& batch) const;  // [source rows, d]
  at::Tensor embed_target(const Batch& batch) const;  // [target rows, d], shifted by one
  /// [rows, d] -> [rows, vocabulary], with the shared table.
  at::Tensor logits(const at::Tensor& states) const;

  const ModelOptions& options() const { return options_; }
  /// Where those parameters stand in the flat buffers whose gradients are complete before the others': the decoder's
  /// own. Empty where no encoder comes before it, there is none, or forward() gives none early.
  virtual base::Span early_elements() const { return {}; }
  Steps steps() const { return {options_.encoder_steps, options_.decoder_steps}; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

 protected:
  /// With the tables; what derives from it adds what else it has and makes the parameters flat. `device`: where its
  /// parameters are, and batches have to be.
  Model(const ModelOptions& options, std::uint64_t seed, at::Device device);

  /// What a prediction says by the final states [rows, d] of the rows that answers are read from, or pointed at.
  at::Tensor scores(const at::Tensor& states, const Batch& batch) const;

 private:
  ModelOptions options_;
  Parameters parameters_;
  at::Tensor table_;      // [vocabulary, d]
  at::Tensor word_mask_;  // [words a row, d]; only where rows are sums of words
  at::Tensor pointer_;    // [d, 1]; only where answers are pointed at
};

}  // namespace ut::core
