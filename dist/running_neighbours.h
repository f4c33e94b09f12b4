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

/// Which rows of a group are whose; each [ranks], the same on every rank.
struct HeldRows {
  std::vector<RowNumbers> running;
  std::vector<RowNumbers> copied;         // have just halted and will be seen
  std::vector<RowNumbers> copied_before;  // were copied after earlier steps
};

/// Gives the rows with these numbers [numbers, c], of those that a rank knows. To be asked once.
using KnownRows = std::function<at::Tensor(const RowNumbers&)>;

/// For a convolution over positions, the rows beside those that run: these at every step, halted ones once, whatever
/// the number of steps in which they are seen.
class RunningNeighbours {
 public:
  /// `offsets` [sequences + 1]: the first row of each sequence. `group` must live as long as this.
  RunningNeighbours(std::vector<std::int64_t> offsets, Communicator& group);

  /// What goes where in one step; numbers of rows [rows] int64.
  struct Step {
    std::int64_t before;
    std::int64_t after;
    at::Tensor own;  // this rank's that run, then those copied
    at::Tensor to_send;
    at::Tensor arriving;
    std::vector<std::int64_t> sent;      // [ranks]
    std::vector<std::int64_t> received;  // [ranks]
  };
  /// Of the rows held in it, of which the running ones see `before` positions back to `after` positions on. To be asked
  /// for one step after another, for none twice, with one reach.
  Step next_step(const HeldRows& held, std::int64_t before, std::int64_t after);

  /// `rows` [own rows, c] -> what this rank knows then: these, what others send, and what it knew of halted ones, all
  /// in `store`, at their numbers. Collective.
  KnownRows bring(const Step& step, const at::Tensor& rows, const std::shared_ptr<RowStore>& store) const;

 private:
  std::vector<bool> marked(const std::vector<const RowNumbers*>& parts) const;
  std::vector<RowNumbers> missing(const HeldRows& held, const std::vector<RowNumbers>& has, std::int64_t before,
                                  std::int64_t after) const;
  std::size_t rank() const { return static_cast<std::size_t>(group_.rank()); }

  std::vector<std::int64_t> offsets_;
  Communicator& group_;
  std::vector<RowNumbers> given_;  // [ranks]: halted rows of others that each has been sent
};

}  // namespace ut::dist
