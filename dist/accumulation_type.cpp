#include "dist/accumulation_type.h"

#include <ATen/ATen.h>

namespace ut::dist {

at::ScalarType accumulation_type(at::ScalarType type) { return type == at::kBFloat16 ? at::kFloat : type; }

at::Tensor in_accumulation_type(const at::Tensor& x) { return x.to(accumulation_type(x.scalar_type())); }

}  // namespace ut::dist
