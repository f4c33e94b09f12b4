#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "core/options.h"

namespace ut::core {

/// A parameter of tests that hold for every kind of model.
struct ModelParts {
  Architecture architecture;
  TransitionKind transition;
  bool points = false;
};

inline std::ostream& operator<<(std::ostream& stream, const ModelParts& parts) {
  const char* names[] = {"EncoderDecoder", "Encoder", "Decoder"};
  return stream << names[static_cast<int>(parts.architecture)] << (parts.points ? "Pointing" : "")
                << (parts.transition == TransitionKind::feed_forward ? "WithFeedForward" : "WithConvolution");
}

inline auto every_model() {
  return testing::Values(ModelParts{Architecture::encoder_decoder, TransitionKind::feed_forward},
                         ModelParts{Architecture::encoder_decoder, TransitionKind::separable_convolution},
                         ModelParts{Architecture::encoder, TransitionKind::feed_forward},
                         ModelParts{Architecture::encoder, TransitionKind::separable_convolution},
                         ModelParts{Architecture::encoder, TransitionKind::feed_forward, true},
                         ModelParts{Architecture::decoder, TransitionKind::feed_forward},
                         ModelParts{Architecture::decoder, TransitionKind::separable_convolution});
}

}  // namespace ut::core
