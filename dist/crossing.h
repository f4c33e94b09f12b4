#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/exchange_options.h"

namespace ut::dist {

/// Rows under way between ranks, as nodes of the autograd graph: one where they leave, one where others come. What is
/// done between the two is done while they travel; so it is on the way back, whose order is the reverse: where the
/// others came their gradient leaves, and where the rows left theirs is waited for.
class Crossing {
 public:
  /// `rows` leave here.
  explicit Crossing(const at::Tensor& rows);

  /// `come` as a part of the graph; `send_back`, given their gradient, begins what brings a part of the gradient of the
  /// rows that left: parts of bfloat16 are added in float32. Collective on the way back.
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
