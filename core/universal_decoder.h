#pragma once

#include <memory>

#include "core/prefix_decoder.h"
#include "core/universal_transformer.h"

namespace ut::core {

/// A Universal Transformer that has read a batch's sources: each position is decoded once, with what earlier ones left
/// in a cache at each step; where halting goes by the mean over a sequence, all ranks go over all positions again for
/// each symbol. Model, batch and group must outlive it. Collective.
std::unique_ptr<PrefixDecoder> make_universal_decoder(const UniversalTransformer& model, const Batch& batch,
                                                      const Steps& steps, const DecodingShare& share);

}  // namespace ut::core
