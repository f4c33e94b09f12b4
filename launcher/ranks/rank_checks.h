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
  std::string usual;   // what most have
  bool is_one_of_two;  // as many have another: which is the odd one cannot be told
};
/// The first such rank; of as many each, the lowest rank's text is taken for the usual one. None where all are the
/// same.
std::optional<OddRank> find_odd_rank(const std::vector<std::string>& texts);

/// Throws FailureOfRank on every rank where parameters or moments, which all ranks compute for themselves, are not the
/// same bits on all: it names the tensor, and the rank that differs from most, or two that differ where there is no
/// telling. Collective.
void check_same_on_all_ranks(const core::Model& model, const core::Adam& optimizer, dist::Communicator& world);

/// Throws FailureOfRank on every rank where on any of them parameters or moments are not finite, with the first such
/// tensor: a checkpoint of them would be none to go on from. It says which update's to go on from instead; below 0:
/// there is none. Collective.
void check_finite(const core::Model& model, const core::Adam& optimizer, std::int64_t last_checkpoint,
                  dist::Communicator& world);

/// Throws AgreedBadInput, on every rank, where a rank was given another option than most, or has read other settings:
/// but where its data lies, and what it works with. Collective.
void check_same_options(const Options& options, dist::Communicator& world);

/// Throws AgreedBadInput, on every rank, where a rank has read other data than most: its vocabulary, the sizes of its
/// splits or some of its examples differ. Collective.
void check_same_data(const datasets::Task& task, dist::Communicator& world);

/// Throws AgreedBadInput, on every rank, where a rank has read another state of the run than most: some have not been
/// shown the newest checkpoint. `state`: what tells it from others. Collective.
void check_same_state(const std::string& state, const Options& options, dist::Communicator& world);

}  // namespace ut::launcher
