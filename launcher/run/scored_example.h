#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/model.h"
#include "datasets/batch.h"
#include "launcher/run/rank_batch.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// What a model made of one example.
struct ScoredExample {
  std::int64_t number;  // in the split
  const datasets::Example& example;
  std::vector<std::int64_t> wanted;           // labels: target symbols, without the end if decoded; or the answer
  std::vector<std::int64_t> said;             // in their place; the output if decoded
  bool right;                                 // whether all of it is
  bool is_decoded;                            // otherwise each symbol was said after the right ones
  std::vector<std::int64_t> encoder_updates;  // steps of each source position, if they halt
  std::vector<std::int64_t> decoder_updates;  // steps of each target position, if they halt; none if decoded
  std::optional<double> loss;  // cross entropy, mean of the labels in the vocabulary; none if decoded or without such
};

using ExampleVisitor = std::function<void(const ScoredExample&)>;

/// [sequences][positions]: the steps that all positions took, from `updates` [local rows] int64, those of this rank's
/// rows; empty if they do not halt. Collective in the group that shares the sequences.
std::vector<std::vector<std::int64_t>> updates_by_position(const at::Tensor& updates,
                                                           const dist::SequenceExchange* exchange,
                                                           core::Halting halting, dist::Communicator& group);

/// Shows `visit` each example of the group that shares these sequences, on the group's first rank. `wrong` [sequences]
/// int64: how many labels of each are wrong. `losses` [sequences, 2] float64: each one's summed cross entropy, and the
/// number of its labels in the vocabulary. Collective in that group.
void show_teacher_forced(const ExampleVisitor& visit, const core::Prediction& prediction, const RankBatch& batch,
                         const at::Tensor& wrong, const at::Tensor& losses, const Session& session);

}  // namespace ut::launcher
