#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/span.h"
#include "dist/communicator.h"

namespace ut::dist {

/// The heads of which this rank gets all positions. Throws base::BadInput where there are more ranks than heads, on all
/// of them.
base::Span my_heads(std::int64_t heads, const Communicator& group);

/// All positions of some heads instead of some positions of all heads: `rows` [counts[rank], blocks * heads * c], as
/// queries, keys and values are, each block of all heads -> [sum(counts), blocks * this rank's heads * c], one rank's
/// rows after the other's. Differentiable. Collective. Throws as my_heads().
at::Tensor to_heads(const at::Tensor& rows, std::int64_t blocks, std::int64_t heads,
                    const std::vector<std::int64_t>& counts, Communicator& group);

/// The way back, of one block: [sum(counts), this rank's heads * c] -> [counts[rank], heads * c].
at::Tensor from_heads(const at::Tensor& rows, std::int64_t heads, const std::vector<std::int64_t>& counts,
                      Communicator& group);

}  // namespace ut::dist
