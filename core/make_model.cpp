#include "core/make_model.h"

#include "core/lstm.h"
#include "core/universal_transformer.h"

namespace ut::core {

std::unique_ptr<Model> make_model(const ModelOptions& options, std::uint64_t seed, at::Device device) {
  if (options.kind == ModelKind::lstm) return std::make_unique<Lstm>(options, seed, device);
  return std::make_unique<UniversalTransformer>(options, seed, device);
}

}  // namespace ut::core
