#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/route.h"
#include "dist/row_store.h"

namespace ut::dist {

/// Which rank holds which rows of a group. Each member is [ranks], the same on every rank.
struct HeldRows {
  std::vector<RowNumbers> running;
  std::vector<RowNumbers> just_halted;    // in the last step, and will still be seen
  std::vector<RowNumbers> halted_before;  // were `just_halted` after earlier steps
};

/// Returns the rows with these numbers [numbers, c], which the rank must know. To be called once.
using KnownRows = std::function<at::Tensor(const RowNumbers&)>;

/// Brings a convolution over positions the rows beside the running ones: running rows in every step, halted ones once,
/// however many steps see them.
class RunningNeighbours {
 public:
  /// `offsets` [sequences + 1]: the first row of each sequence. `group` must live as long as this.
  RunningNeighbours(std::vector<std::int64_t> offsets, Communicator& group);

  /// What goes where in one step. Tensors are numbers of rows [rows] int64.
  struct Step {
    std::int64_t before;
    std::int64_t after;
    at::Tensor own;  // this rank's running rows, then those that have just halted
    at::Tensor to_send;
    at::Tensor arriving;
    std::vector<std::int64_t> sent;      // [ranks]
    std::vector<std::int64_t> received;  // [ranks]
  };
  /// The step of the rows in `held`, of which the running ones see from `before` positions back to `after` positions
  /// on. Call it once for each step, in their order, always with the same reach.
  Step next_step(const HeldRows& held, std::int64_t before, std::int64_t after);

  /// Exchanges `rows` [own rows, c]. Returns what this rank knows then: these rows, what others send, and what it knew
  /// of halted rows, all in `store`, in the slots of their numbers. Collective.
  KnownRows bring(const Step& step, const at::Tensor& rows, const std::shared_ptr<RowStore>& store) const;

 private:
  std::vector<bool> marked(const std::vector<const RowNumbers*>& parts) const;
  std::vector<RowNumbers> missing(const HeldRows& held, const std::vector<RowNumbers>& has, std::int64_t before,
                                  std::int64_t after) const;
  std::size_t rank() const { return static_cast<std::size_t>(group_.rank()); }

  std::vector<std::int64_t> offsets_;
  Communicator& group_;
  std::vector<RowNumbers> given_;  // [ranks]: other ranks' halted rows that each has been sent
};

}  // namespace ut::dist
