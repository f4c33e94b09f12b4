#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/exchange_options.h"

namespace ut::dist {

/// A gather as two nodes of the autograd graph: this rank's rows leave at one, all ranks' arrive at the other, and what
/// is done between the two is done while they travel. The backward pass goes the other way round: where rows arrived
/// their gradient is sent back, and where rows left these gradients are waited for and summed.
class Crossing {
 public:
  /// `rows` leave here.
  explicit Crossing(const at::Tensor& rows);

  /// `come` as a part of the graph; `send_back`, given their gradient, begins what brings a part of the gradient of the
  /// rows that left: parts of bfloat16 are added in float32, but of a ring, on which what comes back is a sum already,
  /// rounded at each rank. Collective in the backward pass.
  at::Tensor arrive(const at::Tensor& come, std::function<Arriving(const at::Tensor&)> send_back) const;

 private:
  std::shared_ptr<std::vector<Arriving>> coming_back_;
  at::Tensor left_;  // [0]
};

/// Begins to bring together every rank's rows, one rank's after the other's, sent as `form` says (heads: all at once).
/// `rows` [counts[rank], c]; the result, called once, waits for them: [sum(counts), c]. Differentiable; collective, as
/// is its backward pass. `group` must live as long as the graph.
Arriving start_gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts, ExchangeForm form,
                           Communicator& group);

}  // namespace ut::dist
