#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "base/span.h"
#include "dist/communicator.h"

namespace ut::dist {

/// Sums all ranks' gradients. One flat buffer holds the gradients of all parameters and is summed once an update,
/// however many steps the tied block was applied for. Losses are divided by the update's global number of labels before
/// their backward pass, so nothing is divided here.
class GradientSynchronisation {
 public:
  /// For one update. `flat_gradient` [elements]; `early`: the elements that are complete before the backward pass ends.
  /// `world` must outlive this.
  GradientSynchronisation(const at::Tensor& flat_gradient, base::Span early, Communicator& world);

  /// Call it when the early elements are complete: starts to sum them.
  void start_early();
  void progress() { world_.progress(); }
  /// Call it when all elements are complete: waits until all are summed. Collective.
  void finish();
  /// Whether this rank's own gradients were finite before they were summed over ranks, judged by their sum over
  /// elements. Always true on one rank: nothing is summed there, and nobody asks. Waits for the device.
  bool were_finite() const;

 private:
  /// [end - begin]: elements about to be summed over ranks. Notes their own sum for were_finite().
  at::Tensor part(std::int64_t begin, std::int64_t end);

  at::Tensor gradient_;
  base::Span early_;
  Communicator& world_;
  std::vector<at::Tensor> own_;   // scalars: sums of this rank's elements, not finite if an element is not
  std::function<void()> summed_;  // waits for the early elements; empty: not under way
};

}  // namespace ut::dist
