#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
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
  std::vector<std::int64_t> wanted;           // labels: target symbols, without the end where decoded, or the answer
  std::vector<std::int64_t> said;             // in their place, or decoded
  bool right;                                 // all of it
  bool is_decoded;                            // else each symbol was said after the right ones
  std::vector<std::int64_t> encoder_updates;  // steps that each of its positions took, where they halt
  std::vector<std::int64_t> decoder_updates;  // likewise, but for what is decoded
};

using See = std::function<void(const ScoredExample&)>;

/// Of each sequence the steps that its positions took, from those of the rows here [local rows] int64; none where they
/// do not halt. Collective in the group that shares the sequences.
std::vector<std::vector<std::int64_t>> updates_by_position(const at::Tensor& updates,
                                                           const dist::SequenceExchange* exchange,
                                                           core::Halting halting, dist::Communicator& group);

/// Shows the examples of the group that shares these sequences to `see`, on its first rank. `wrong` [sequences] int64:
/// how many labels of each are wrong. Collective in that group.
void show_teacher_forced(const See& see, const core::Prediction& prediction, const RankBatch& batch,
                         const at::Tensor& wrong, const Session& session);

}  // namespace ut::launcher
