#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "dist/communicator.h"
#include "dist/route.h"

namespace ut::dist {

/// Which rows of a group are whose; each [ranks], the same on every rank.
struct HeldRows {
  std::vector<RowNumbers> running;
  std::vector<RowNumbers> copied;  // have just halted and will be seen
  std::vector<RowNumbers> kept;    // were copied after earlier steps
};

/// States of halted rows that a rank keeps, from step to step; none at the first.
struct KeptRows {
  at::Tensor own;        // [rows, c]: that halted here
  at::Tensor of_others;  // [rows, c]
};

/// What a rank knows of its own rows and those beside them.
struct KnownRows {
  at::Tensor rows;                   // [known rows, c]
  std::vector<std::int64_t> places;  // [seen rows]: where each stands among them, -1 where it is too far off
};

/// For a convolution over positions, the rows beside those that run: these at every step, halted ones once, whatever
/// the number of steps in which they are seen.
class RunningNeighbours {
 public:
  /// `offsets` [sequences + 1]: the first row of each sequence. `group` must live as long as this.
  RunningNeighbours(std::vector<std::int64_t> offsets, Communicator& group);

  /// `rows` [those of this rank in `held` that run, then those copied, c] -> these and all that the running ones see
  /// `before` positions back to `after` positions on. `seen`: all rows of this rank's sequences. `kept` is carried from
  /// step to step. Collective. For all layers of a block in turn, with one reach.
  KnownRows bring(const at::Tensor& rows, KeptRows& kept, const HeldRows& held, const RowNumbers& seen,
                  std::int64_t before, std::int64_t after);
  /// Other rows are held from now on.
  void end_step() { step_.reset(); }

 private:
  struct Step {
    Route route;                       // from a rank's rows to send and those that it keeps of its own
    at::Tensor to_send;                // [rows] int64: route.to_send
    at::Tensor halted;                 // [rows] int64: the arriving ones that are kept
    std::vector<std::int64_t> places;  // [seen rows]: see KnownRows
  };

  Step make_step(const HeldRows& held, const RowNumbers& seen, std::int64_t before, std::int64_t after);
  std::vector<bool> marked(const std::vector<const RowNumbers*>& parts) const;
  std::vector<RowNumbers> missing(const HeldRows& held, const std::vector<RowNumbers>& has, std::int64_t before,
                                  std::int64_t after) const;
  std::vector<std::int64_t> places_of(const RowNumbers& seen, const RowNumbers& known) const;
  std::size_t rank() const { return static_cast<std::size_t>(group_.rank()); }

  std::vector<std::int64_t> offsets_;
  Communicator& group_;
  std::vector<RowNumbers> given_;  // [ranks]: halted rows of others that each has been sent
  std::optional<Step> step_;
};

}  // namespace ut::dist
