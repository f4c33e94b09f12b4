#pragma once

#include <cstdint>
#include <memory>

#include "core/model.h"

namespace ut::core {

/// The model that options.kind names. `device`: where its parameters are, and batches have to be.
std::unique_ptr<Model> make_model(const ModelOptions& options, std::uint64_t seed, at::Device device);

}  // namespace ut::core
