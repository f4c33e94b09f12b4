#include "core/decoding_cache.h"

#include <ATen/ATen.h>

#include <utility>

#include "dist/on_device.h"

namespace ut::core {

DecodingCache::StepCache& DecodingCache::of_step(std::int64_t step) {
  if (std::cmp_less(steps_.size(), step)) steps_.resize(static_cast<std::size_t>(step));
  return steps_[static_cast<std::size_t>(step - 1)];
}

at::Tensor DecodingCache::at_position(std::vector<at::Tensor>& of_layers, std::size_t layer, std::int64_t position,
                                      const at::Tensor& like) const {
  constexpr std::int64_t room_at_first = 16;  // positions; doubled whenever they are full
  if (of_layers.size() <= layer) of_layers.resize(layer + 1);
  at::Tensor& kept = of_layers[layer];
  if (!kept.defined()) kept = at::zeros({room_at_first, sequences_, like.size(1)}, like.options());
  while (kept.size(0) <= position) kept.resize_({2 * kept.size(0), kept.size(1), kept.size(2)});
  return kept[position];
}

void DecodingCache::move(std::int64_t positions, const std::vector<std::int64_t>& from,
                         const std::vector<std::int64_t>& to) {
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> reached;
  for (std::size_t index = 0; index < to.size(); ++index) {
    if (from[index] == to[index]) continue;
    left.push_back(from[index]);
    reached.push_back(to[index]);
  }
  if (positions == 0 || left.empty()) return;
  const at::Tensor source = dist::on_device(left, device_);
  const at::Tensor target = dist::on_device(reached, device_);
  for (StepCache& step : steps_)
    for (const auto* of_layers : {&step.keys_values, &step.states})
      for (const at::Tensor& kept : *of_layers) {
        at::Tensor earlier = kept.narrow(0, 0, positions);
        earlier.index_copy_(1, target, earlier.index_select(1, source));
      }
}

}  // namespace ut::core
