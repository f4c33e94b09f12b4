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

/// How many steps each stack takes; with halting, the most that a position takes.
struct Steps {
  std::int64_t encoder;
  std::int64_t decoder;
};

/// The steps that a stack's rows took, and the ponder time that the loss penalises.
struct StackPonder {
  at::Tensor updates;  // [rows] int64
  at::Tensor cost;     // float64, the sum over rows of updates + remainder; undefined without halting
};

/// A model's output for a batch.
struct Prediction {
  at::Tensor logits;    // [labels, vocabulary]: scores of every symbol for the rows that are read (equation 8); for
                        // models that point: [labels, most candidates]
  StackPonder encoder;  // tensors are undefined if the model has no such stack
  StackPonder decoder;
};

/// A model to train, evaluate and decode with. It owns its parameters, among them the one table that inputs, targets
/// and the softmax share. It works on this rank's rows and meets other ranks only through the exchanges in a batch and,
/// in decoding, through the group of a DecodingShare.
class Model {
 public:
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  /// `synchronisation`: given if the next backward pass is the last of its update; it may then take gradients that are
  /// finished early. Forward and backward pass are collective among the ranks that share the batch's sequences. Throws
  /// base::BadInput if a learned step signal has fewer steps than `steps`.
  virtual Prediction forward(const Batch& batch, const Steps& steps, const DropoutKey& dropout,
                             dist::GradientSynchronisation* synchronisation = nullptr) const = 0;

  /// Reads a batch's sources, if there are any, and returns a decoder of their outputs. Model, batch and group must
  /// outlive it. Collective.
  virtual std::unique_ptr<PrefixDecoder> begin_decoding(const Batch& batch, const Steps& steps,
                                                        const DecodingShare& share) const = 0;
  /// Whether the ranks that share sequences decode all of them together, instead of each rank some of them.
  virtual bool decodes_together() const { return false; }

  at::Tensor embed_source(const Batch& batch) const;  // H^0 [source rows, d]
  at::Tensor embed_target(const Batch& batch) const;  // H^0 [target rows, d], shifted by one
  /// Final states [rows, d] -> [rows, vocabulary], with the shared table (equation 8, before the softmax).
  at::Tensor logits(const at::Tensor& states) const;

  const ModelOptions& options() const { return options_; }
  /// The elements of the flat buffers whose gradients are complete before the others': the decoder's own parameters.
  /// Empty if there is no decoder or no encoder before it, or if forward() gives none early.
  virtual base::Span early_elements() const { return {}; }
  Steps steps() const { return {options_.encoder_steps, options_.decoder_steps}; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

 protected:
  /// Adds the tables. A derived class adds its other parameters and then calls Parameters::flatten(). `device`: where
  /// the parameters are; batches must be there too.
  Model(const ModelOptions& options, std::uint64_t seed, at::Device device);

  /// Prediction::logits from `states` [rows, d], the final states of this rank's target rows or, with an encoder alone,
  /// source rows. Collective for models that point.
  at::Tensor scores(const at::Tensor& states, const Batch& batch) const;

 private:
  ModelOptions options_;
  Parameters parameters_;
  at::Tensor table_;      // [vocabulary, d]
  at::Tensor word_mask_;  // [words per row, d]; only if rows are sums of words
  at::Tensor pointer_;    // [d, 1]; only for models that point
};

}  // namespace ut::core
