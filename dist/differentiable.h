#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "dist/communicator.h"

namespace ut::dist {

using Function = std::function<at::Tensor(const at::Tensor&)>;

/// forward(input) as an autograd node whose backward pass is `backward`, a function of the output's gradient.
at::Tensor differentiable(const at::Tensor& input, const Function& forward, Function backward);

/// Maps the output's gradient to the inputs' gradients, in the inputs' order. An undefined tensor means no gradient.
using Backward = std::function<std::vector<at::Tensor>(const at::Tensor&)>;

/// Makes `output`, which was computed from `inputs` without a graph, an autograd node whose backward pass is
/// `backward`.
///
/// Collective backward passes meet their counterparts on the other ranks only because of the order in which autograd
/// runs nodes. Of the nodes that are ready it takes the one made last, by a counter of the thread that made it, and a
/// consumer of an output was made after that output. Ranks that make the same nodes in the same order therefore go back
/// through them in the same order. Hence: never make a node with a collective backward pass under a condition that can
/// differ between the ranks of its group, nor on another thread than the others. Otherwise all wait for ever.
at::Tensor with_backward(const at::Tensor& output, const std::vector<at::Tensor>& inputs, Backward backward);

/// `x`, as a node whose backward pass also calls `function`.
at::Tensor call_in_backward(const at::Tensor& x, const std::function<void()>& function);

/// The collectives that exchanges are made of, as autograd nodes. The backward pass of each is its transpose, and runs
/// on every rank even if nothing depended on the output. On one rank nothing moves. `group` must live as long as the
/// graph. all_to_all: `rows` [sum of sent, ...] -> [sum of received, ...]; all_sum: the sum of `values` over the ranks.
at::Tensor all_to_all(const at::Tensor& rows, std::vector<std::int64_t> sent, std::vector<std::int64_t> received,
                      Communicator& group);
at::Tensor all_sum(const at::Tensor& values, Communicator& group);

}  // namespace ut::dist
