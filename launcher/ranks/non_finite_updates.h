#pragma once

#include <cstdint>
#include <string>

#include "core/model.h"
#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// Counts and reports updates whose loss or gradients are not finite. The optimizer leaves them out by itself.
class NonFiniteUpdates {
 public:
  explicit NonFiniteUpdates(const Options& options)
      : limit_(options.on_nonfinite == OnNonFinite::stop ? 0 : options.nonfinite_limit) {}
  /// For a run that goes on: so many updates were left out just before.
  void resume(std::int64_t in_a_row) { in_a_row_ = in_a_row; }
  std::int64_t in_a_row() const { return in_a_row_; }

  /// To be called after an update with such a loss or norm, which every rank sees alike. `loss`: of all ranks. `here`:
  /// whether this rank's own loss or gradients, before they were summed, are not finite. Returns a message that names
  /// the tensor and the rank it came from; no rank if each rank's own are finite and only their sum, or its norm, is
  /// not. Throws FailureOfRank with that message if no more updates may be left out in a row. Collective.
  std::string left_out(const core::Model& model, double loss, bool here, dist::Communicator& world);
  /// To be called after any other update.
  void went_well() { in_a_row_ = 0; }

 private:
  std::int64_t limit_;
  std::int64_t in_a_row_ = 0;
};

}  // namespace ut::launcher
