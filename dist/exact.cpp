#include "dist/exact.h"

#include <ATen/ATen.h>

namespace ut::dist {

at::ScalarType exact_type(at::ScalarType type) { return type == at::kBFloat16 ? at::kFloat : type; }

at::Tensor exact(const at::Tensor& x) { return x.to(exact_type(x.scalar_type())); }

}  // namespace ut::dist
