#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/span.h"
#include "dist/communicator.h"

namespace ut::dist {

/// The heads of which this rank gets all positions. Throws base::BadInput, on every rank, if there are more ranks than
/// heads.
base::Span my_heads(std::int64_t heads, const Communicator& group);

/// Exchanges some positions of all heads for all positions of some heads. `rows` [counts[rank], blocks * heads * c]:
/// one or more blocks beside each other, such as queries, keys and values, each of all heads. Returns [sum(counts),
/// blocks * this rank's heads * c], one rank's rows after another's. Differentiable. Collective. Throws as my_heads().
at::Tensor to_heads(const at::Tensor& rows, std::int64_t blocks, std::int64_t heads,
                    const std::vector<std::int64_t>& counts, Communicator& group);

/// The way back, for one block: [sum(counts), this rank's heads * c] -> [counts[rank], heads * c]. Differentiable.
/// Collective. Throws as my_heads().
at::Tensor from_heads(const at::Tensor& rows, std::int64_t heads, const std::vector<std::int64_t>& counts,
                      Communicator& group);

}  // namespace ut::dist
