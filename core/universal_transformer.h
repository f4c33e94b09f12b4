#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/model.h"
#include "core/recurrence.h"

namespace ut::core {

/// The Universal Transformer: a tied encoder block, a tied decoder block, or one of the two.
class UniversalTransformer final : public Model {
 public:
  UniversalTransformer(const ModelOptions& options, std::uint64_t seed, at::Device device = at::kCPU);

  base::Span early_elements() const override;
  /// Gives the decoder's gradients to `synchronisation` while the encoder's are being computed.
  Prediction forward(const Batch& batch, const Steps& steps, const DropoutKey& dropout,
                     dist::GradientSynchronisation* synchronisation = nullptr) const override;
  std::unique_ptr<PrefixDecoder> begin_decoding(const Batch& batch, const Steps& steps,
                                                const DecodingShare& share) const override;
  /// True if the decoder halts by the mean over a sequence.
  bool decodes_together() const override;

  // The parts of forward(), for decoding and for callers that look inside.

  /// Applies the encoder to H^0 of the source rows, `embedded` [source rows, d], as embed_source() gives it.
  /// Collective, like forward().
  StackOutput encode(const at::Tensor& embedded, const Batch& batch, std::int64_t steps, const DropoutKey& dropout,
                     const StepObserver& observer = {}) const;
  /// Applies the decoder to H^0 of the target rows, `embedded` [target rows, d]. `memory`: null without an encoder.
  /// Collective, like forward().
  StackOutput decode(const at::Tensor& embedded, const Memory* memory, const Batch& batch, std::int64_t steps,
                     const DropoutKey& dropout) const;

  // Only if there is one.
  const Recurrence& encoder() const { return *encoder_; }
  Recurrence& encoder() { return *encoder_; }
  const Recurrence& decoder() const { return *decoder_; }
  Recurrence& decoder() { return *decoder_; }

 private:
  std::optional<Recurrence> encoder_;
  std::optional<Recurrence> decoder_;
};

}  // namespace ut::core
