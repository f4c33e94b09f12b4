#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "base/span.h"
#include "dist/communicator.h"

namespace ut::dist {

/// Sums the gradients of every rank's rows over all ranks: one flat buffer that holds the gradients of all parameters,
/// once an update, however many steps the tied block was applied for. Losses are divided by the update's global number
/// of labels before their backward pass, so nothing is divided here.
class GradientSynchronisation {
 public:
  /// Of one update. `flat_gradient` [elements]; `early`: the elements that are complete while the backward pass still
  /// goes on. `world` must outlive this.
  GradientSynchronisation(const at::Tensor& flat_gradient, base::Span early, Communicator& world);

  /// The early elements are complete: they are under way from here on.
  void start_early();
  void progress() { world_.progress(); }
  /// All are complete: waits until they are summed. Collective.
  void finish();
  /// Whether this rank's own gradients, before they were summed over ranks, were finite, judged by their sum over
  /// elements. True where there is one rank: nothing is summed over ranks, and nobody asks. Waits for the device.
  bool were_finite() const;

 private:
  /// [end - begin], about to be handed over.
  at::Tensor part(std::int64_t begin, std::int64_t end);

  at::Tensor gradient_;
  base::Span early_;
  Communicator& world_;
  std::vector<at::Tensor> own_;   // [], the sums of this rank's elements, which are not finite if one of these is not
  std::function<void()> summed_;  // the early ones, where they are under way
};

}  // namespace ut::dist
