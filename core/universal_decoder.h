#pragma once

#include <memory>

#include "core/prefix_decoder.h"
#include "core/universal_transformer.h"

namespace ut::core {

/// Reads a batch's sources with a Universal Transformer and returns a decoder of their outputs. It computes each
/// position once, using what earlier ones left in a cache at each step. If the decoder halts by the mean over a
/// sequence, all ranks instead compute all positions again for each symbol. Model, batch and group must outlive it.
/// Collective.
std::unique_ptr<PrefixDecoder> make_universal_decoder(const UniversalTransformer& model, const Batch& batch,
                                                      const Steps& steps, const DecodingShare& share);

}  // namespace ut::core
