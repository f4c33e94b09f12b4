#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "dist/communicator.h"

namespace ut::dist {

using Function = std::function<at::Tensor(const at::Tensor&)>;

/// forward(input) as a node of the autograd graph whose backward pass is `backward`, of the output's gradient.
at::Tensor differentiable(const at::Tensor& input, const Function& forward, Function backward);

/// From the output's gradient those of the inputs, in their order; undefined: none.
using Backward = std::function<std::vector<at::Tensor>(const at::Tensor&)>;

/// `output`, which was made of `inputs` without a graph, as a node of the autograd graph whose backward pass is
/// `backward`.
///
/// Backward passes that are collective meet their own kind on the other ranks only because of the order in which
/// autograd goes back: of the nodes that are ready it takes the one made last, by a counter of the thread that made it,
/// and what consumes an output was made after it. So ranks that make the same nodes in the same order go back through
/// them in the same order. Hence: never make a node whose backward pass is collective under a condition that can differ
/// between the ranks of its group, nor on another thread than the others; or all wait for ever.
at::Tensor with_backward(const at::Tensor& output, const std::vector<at::Tensor>& inputs, Backward backward);

/// `x`, whose backward pass calls `tell` on its way.
at::Tensor tell_in_backward(const at::Tensor& x, const std::function<void()>& tell);

/// `result`, whose backward pass also runs that of `others`, though nothing of them is in it: for collectives in whose
/// backward pass every rank must take part.
at::Tensor tie(const at::Tensor& result, const std::vector<at::Tensor>& others);

/// The collectives that exchanges are made of, as nodes of the autograd graph: the backward pass of each is its
/// transpose, and runs on every rank, also where nothing depended on the output. On one rank nothing moves. `group`
/// must live as long as the graph.
at::Tensor all_to_all(const at::Tensor& rows, std::vector<std::int64_t> sent, std::vector<std::int64_t> received,
                      Communicator& group);
at::Tensor all_sum(const at::Tensor& values, Communicator& group);

}  // namespace ut::dist
