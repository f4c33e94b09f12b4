#include "core/universal_transformer.h"

#include "core/universal_decoder.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

StackPonder ponder_of(const StackOutput& output) {
  return {output.updates, output.cost.defined() ? output.cost.sum() : at::Tensor()};
}

}  // namespace

UniversalTransformer::UniversalTransformer(const ModelOptions& options, std::uint64_t seed, at::Device device)
    : Model(options, seed, device) {
  if (options.has_encoder()) encoder_.emplace(parameters(), "encoder", options, options.encoder_steps, false);
  if (options.has_decoder()) decoder_.emplace(parameters(), "decoder", options, options.decoder_steps, true);
  parameters().flatten();
}

base::Span UniversalTransformer::early_elements() const {
  return encoder_ && decoder_ ? parameters().elements_of("decoder.") : base::Span{};
}

bool UniversalTransformer::decodes_together() const {
  const HaltingOptions& halting = options().halting;
  return halting.decoder != Halting::none && halting.kind == ActKind::global;
}

std::unique_ptr<PrefixDecoder> UniversalTransformer::begin_decoding(const Batch& batch, const Steps& steps,
                                                                    const DecodingShare& share) const {
  return make_universal_decoder(*this, batch, steps, share);
}

StackOutput UniversalTransformer::encode(const at::Tensor& embedded, const Batch& batch, std::int64_t steps,
                                         const DropoutKey& dropout, const StepObserver& observer) const {
  const auto rows = encoder_->make_rows(*batch.source, nullptr);
  return encoder_->forward(embedded, batch.source_position, steps, *rows, nullptr, dropout, observer);
}

StackOutput UniversalTransformer::decode(const at::Tensor& embedded, const Memory* memory, const Batch& batch,
                                         std::int64_t steps, const DropoutKey& dropout) const {
  const auto rows = decoder_->make_rows(*batch.target, memory);
  return decoder_->forward(embedded, batch.target_position, steps, *rows, memory, dropout);
}

Prediction UniversalTransformer::forward(const Batch& batch, const Steps& steps, const DropoutKey& dropout,
                                         dist::GradientSynchronisation* synchronisation) const {
  StepObserver observer;
  if (synchronisation != nullptr) observer.step_backward = [synchronisation] { synchronisation->progress(); };
  Prediction prediction;
  StackOutput output;
  std::optional<Memory> memory;
  if (encoder_) {
    output = encode(embed_source(batch), batch, steps.encoder, dropout, observer);
    prediction.encoder = ponder_of(output);
  }
  if (encoder_ && decoder_) {
    if (synchronisation != nullptr)
      output.state = dist::call_in_backward(output.state, [synchronisation] { synchronisation->start_early(); });
    memory = decoder_->block().remember(output.state, *batch.source);
  }
  if (decoder_) {
    output = decode(embed_target(batch), memory ? &*memory : nullptr, batch, steps.decoder, dropout);
    prediction.decoder = ponder_of(output);
  }
  prediction.logits = scores(output.state, batch);
  return prediction;
}

}  // namespace ut::core
