#include "core/pointing.h"

#include <ATen/ATen.h>

#include <limits>

namespace ut::core {

at::Tensor candidate_scores(const at::Tensor& scores, const Candidates& candidates, std::int64_t labels) {
  constexpr double smallest = std::numeric_limits<float>::min();
  const at::Tensor places = scores.index_select(0, candidates.row_of_place);                  // [places]
  const at::Tensor label = candidates.candidate_of_place.div(candidates.per_label, "floor");  // [places]
  const at::Tensor best = at::full({labels}, -std::numeric_limits<double>::infinity(), scores.options())
                              .scatter_reduce(0, label, places.detach(), "amax");  // [labels]
  const at::Tensor exponentials = (places - best.index_select(0, label)).exp();
  const at::Tensor sums = at::zeros({labels * candidates.per_label}, scores.options())
                              .index_add(0, candidates.candidate_of_place, exponentials)
                              .view({labels, candidates.per_label});
  return sums.clamp_min(smallest).log() + best.unsqueeze(1);
}

}  // namespace ut::core
