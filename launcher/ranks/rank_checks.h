#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/optimizer.h"
#include "datasets/task.h"
#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// A rank whose text is not the one that most ranks have.
struct OddRank {
  int rank;
  std::string usual;   // the text of most ranks
  bool is_one_of_two;  // as many ranks have another text: nobody can tell which is the odd one
};
/// The first such rank; none if all texts are the same. If several texts are the most frequent, the lowest rank's
/// counts as the usual one.
std::optional<OddRank> find_odd_rank(const std::vector<std::string>& texts);

/// Throws FailureOfRank on every rank if parameters or moments, which all ranks compute for themselves, are not the
/// same bits on all. It names the tensor, and the rank that differs from most, or two that differ if nobody can tell
/// which is right. Collective.
void check_same_on_all_ranks(const core::Model& model, const core::Adam& optimizer, dist::Communicator& world);

/// Throws FailureOfRank on every rank if parameters or moments are not finite on any of them, and names the first such
/// tensor: no run could go on from a checkpoint of them. `last_checkpoint`: the update of the checkpoint to go on from
/// instead, which the message names; below 0: there is none. Collective.
void check_finite(const core::Model& model, const core::Adam& optimizer, std::int64_t last_checkpoint,
                  dist::Communicator& world);

/// Throws AgreedBadInput on every rank if a rank was given another option than most, or has read other settings. Paths,
/// threads, device and quiet may differ. Collective.
void check_same_options(const Options& options, dist::Communicator& world);

/// Throws AgreedBadInput on every rank if a rank has read other data than most: its vocabulary, the sizes of its splits
/// or some of its examples differ. Collective.
void check_same_data(const datasets::Task& task, dist::Communicator& world);

/// Throws AgreedBadInput on every rank if a rank has read another state of the run than most: some may not see the
/// newest checkpoint yet. `state`: what tells it from others. Collective.
void check_same_state(const std::string& state, const Options& options, dist::Communicator& world);

}  // namespace ut::launcher
