#pragma once

#include <cstdint>
#include <memory>

#include "core/model.h"

namespace ut::core {

/// A new model of the kind that options.kind names. `device`: where its parameters are; batches must be there too.
std::unique_ptr<Model> make_model(const ModelOptions& options, std::uint64_t seed, at::Device device);

}  // namespace ut::core
