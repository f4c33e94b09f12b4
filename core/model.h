#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "core/batch.h"
#include "core/recurrence.h"
#include "dist/gradient_synchronisation.h"

namespace ut::core {

/// How many steps to take, where it differs from training.
struct Steps {
  std::int64_t encoder;
  std::int64_t decoder;
};

/// Steps that rows took, and what of it the loss holds down.
struct PonderTime {
  at::Tensor updates;  // [rows] int64
  at::Tensor cost;     // float64, the sum over rows of updates + remainder; undefined without halting
};

/// What a model says of a batch.
struct Prediction {
  at::Tensor logits;   // [labels, vocabulary]: scores of every symbol for the rows that are read (equation 8); where
                       // answers are pointed at [labels, most candidates]
  PonderTime encoder;  // tensors are undefined for a stack that is not there
  PonderTime decoder;
};

/// The Universal Transformer: tables, a tied encoder block, a tied decoder block, or one of the two. Works on this
/// rank's rows; meets other ranks only through the exchanges in a batch.
class UniversalTransformer {
 public:
  /// `device`: where its parameters are, and batches have to be.
  UniversalTransformer(const ModelOptions& options, std::uint64_t seed, at::Device device = at::kCPU);
  UniversalTransformer(const UniversalTransformer&) = delete;
  UniversalTransformer& operator=(const UniversalTransformer&) = delete;

  /// `synchronisation`, of the update whose last backward pass comes next: takes the decoder's gradients while the
  /// encoder's are made.
  Prediction forward(const Batch& batch, const Steps& steps, const DropoutKey& dropout,
                     dist::GradientSynchronisation* synchronisation = nullptr) const;

  /// The parts of forward(), for decoding and for who wants to look inside.
  at::Tensor embed_source(const Batch& batch) const;  // H^0 of the encoder [source rows, d]
  at::Tensor embed_target(const Batch& batch) const;  // H^0 of the decoder [target rows, d], shifted by one
  /// What the encoder makes of the source rows.
  Revised encode(const at::Tensor& embedded, const Batch& batch, std::int64_t steps, const DropoutKey& dropout,
                 const Watch& watch = {}) const;
  /// What the decoder makes of the target rows; no `memory` where it is alone.
  Revised decode(const at::Tensor& embedded, const Memory* memory, const Batch& batch, std::int64_t steps,
                 const DropoutKey& dropout) const;
  /// [rows, d] -> [rows, vocabulary], with the shared table.
  at::Tensor logits(const at::Tensor& states) const;

  const ModelOptions& options() const { return options_; }
  /// Where those parameters stand in the flat buffers whose gradients are complete before the others': the decoder's
  /// own. Empty where no encoder comes before it, or there is none.
  dist::Span early_elements() const { return encoder_ ? parameters_.elements_of("decoder.") : dist::Span{}; }
  Steps steps() const { return {options_.encoder_steps, options_.decoder_steps}; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  const Recurrence& encoder() const { return *encoder_; }
  Recurrence& encoder() { return *encoder_; }
  const Recurrence& decoder() const { return *decoder_; }
  Recurrence& decoder() { return *decoder_; }

 private:
  ModelOptions options_;
  Parameters parameters_;
  at::Tensor table_;      // [vocabulary, d]
  at::Tensor word_mask_;  // [words a row, d]; only where rows are sums of words
  at::Tensor pointer_;    // [d, 1]; only where answers are pointed at
  std::optional<Recurrence> encoder_;
  std::optional<Recurrence> decoder_;
};

}  // namespace ut::core
