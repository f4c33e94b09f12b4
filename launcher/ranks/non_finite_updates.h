#pragma once

#include <cstdint>
#include <string>

#include "core/model.h"
#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// What becomes of updates whose loss or gradients are not finite. The optimizer leaves them out by itself; here they
/// are counted, and reported.
class NonFiniteUpdates {
 public:
  explicit NonFiniteUpdates(const Options& options)
      : limit_(options.on_nonfinite == OnNonFinite::stop ? 0 : options.nonfinite_limit) {}
  /// A run that is gone on with: as many were left out just before.
  void resume(std::int64_t in_a_row) { in_a_row_ = in_a_row; }
  std::int64_t in_a_row() const { return in_a_row_; }

  /// After an update with such a loss or norm, which every rank sees alike: returns what is to be said of it, which
  /// tensor and which rank it came from; of none, where each rank's own are finite and their sum, or its norm, is not.
  /// Throws FailureOfRank with that where no more are left out in a row. `loss`: of all ranks. `here`: this rank's own
  /// loss or gradients, before they were summed, are not finite. Collective.
  std::string left_out(const core::Model& model, double loss, bool here, dist::Communicator& world);
  /// After any other update.
  void went_well() { in_a_row_ = 0; }

 private:
  std::int64_t limit_;
  std::int64_t in_a_row_ = 0;
};

}  // namespace ut::launcher
