#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/batch.h"

namespace ut::core {

/// Answers that are words of the text itself, as in Chu et al. (2017): each row has a score, a softmax over the rows of
/// a sequence makes probabilities of the scores, and a word has the sum of the probabilities of its places (attention
/// sum).
///
/// `scores` [all source rows]: of every row of the sequences that the ranks share. Returns [labels, most candidates]:
/// for each candidate the log of the sum of exp(score) over its places, so that cross entropy over candidates is minus
/// the log of the answer's share. About 87 below a label's best score for candidates that the label does not have, and
/// for sums too small for a float. Every label must have a candidate.
at::Tensor candidate_scores(const at::Tensor& scores, const Candidates& candidates, std::int64_t labels);

}  // namespace ut::core
