#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/optimizer.h"
#include "tests/golden/kinds.h"

namespace ut::golden {
namespace {

/// The part of one of the authors' sets of hyper-parameters that the learning rate depends on.
struct RateOptions {
  std::int64_t d_model;
  bool decay_alone;
  core::ScheduleOptions schedule;
};

/// From the set's name, which ends in its size: universal_transformer_base, adaptive_universal_transformer_base_tpu.
std::optional<RateOptions> options_of(std::string_view set) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> sizes{
      {{"_tiny", 128}, {"_small", 512}, {"_base", 1024}, {"_big", 2048}, {"_tall", 512}}};
  constexpr std::string_view tpu = "_tpu";
  const bool decay_alone = set.ends_with(tpu);
  if (decay_alone) set.remove_suffix(tpu.size());
  for (const auto& [ending, d_model] : sizes)
    if (set.ends_with(ending))
      return RateOptions{
          d_model, decay_alone, {core::ScheduleKind::inverse_square_root, 2.0, decay_alone ? 10000 : 8000}};
  return std::nullopt;
}

double rate(const RateOptions& options, std::int64_t update) {
  if (options.decay_alone) return core::inverse_square_root_decay(update, options.schedule.warmup);
  return core::learning_rate(options.schedule, update, 0, options.d_model);
}

}  // namespace

void compare_learning_rates(const Case& golden, core::Precision, Comparison& comparison) {
  const std::string prefix = "learning_rate/";
  const at::Tensor updates = golden.array("step").to(at::kLong);
  for (const auto& name : golden.names(prefix)) {
    const auto options = options_of(name.substr(prefix.size()));
    if (!options) continue;  // main.cpp reports the arrays that were not compared
    std::vector<double> rates;
    for (std::int64_t index = 0; index < updates.numel(); ++index)
      rates.push_back(rate(*options, updates[index].item<std::int64_t>()));
    comparison.check(Quantity::rate, name, at::tensor(rates, at::kDouble));
  }
}

}  // namespace ut::golden
