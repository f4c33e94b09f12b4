#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/exchange_options.h"

namespace ut::dist {

/// A gather as two nodes of the autograd graph: this rank's rows leave at one, and all ranks' rows arrive at the other.
/// Work done between the two overlaps with the transfer. The backward pass goes the other way: gradients are sent back
/// where rows arrived, and are waited for and summed where rows left.
class SplitGather {
 public:
  /// Makes the node at which `rows` leave.
  explicit SplitGather(const at::Tensor& rows);

  /// Makes `come`, rows that have arrived, a part of the graph. `send_back` is given their gradient and starts the
  /// transfer of a part of the gradient of the rows that left. Parts in bfloat16 are added in float32, except on a
  /// ring: what comes back there is a sum already, rounded at each rank. Collective in the backward pass.
  at::Tensor arrive(const at::Tensor& come, std::function<PendingTensor(const at::Tensor&)> send_back) const;

 private:
  std::shared_ptr<std::vector<PendingTensor>> coming_back_;
  at::Tensor left_;  // [0]
};

/// Starts to gather every rank's rows, one rank's after another's, sent as `form` says (heads: all at once). `rows`
/// [counts[rank], c]; the result, called once, waits for them: [sum(counts), c]. Differentiable. Collective, as is its
/// backward pass. `group` must live as long as the graph.
PendingTensor start_gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts, ExchangeForm form,
                                Communicator& group);

}  // namespace ut::dist
