#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/batch.h"

namespace ut::core {

/// Answers that are words of the text itself, as in Chu et al. (2017): each row has a score, softmax over the rows of a
/// sequence makes probabilities of them, and a word has the sum of those of its places (attention sum).
///
/// `scores` [all source rows], of every row of the sequences that the ranks share -> [labels, most candidates]: the log
/// of the sum of the exponentials at a candidate's places, so that cross entropy over candidates is minus the log of
/// the answer's sum. Where a label has fewer candidates, and where that sum is too small for a number, about -87 less
/// than the best. Every label has a candidate.
at::Tensor candidate_scores(const at::Tensor& scores, const Candidates& candidates, std::int64_t labels);

}  // namespace ut::core
