#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ut::launcher {

/// Most points that a curve keeps; of each stretch the lowest and the highest stay.
inline constexpr std::size_t most_points = 2000;

/// A run directory's options and metrics, as a report shows them:
///   "settings": {name: value}
///   "sizes": {"parameters": number, "flops_per_update": [least, most], "flops_per_step": {stack: number}}, if said
///   "curves": {"training": {key: [[update, number or null], …]}, "validation": likewise}
///   "scores": {split: what the last line of that split says}, but for the validation split's
///   "evaluations": [what `ut evaluate` has printed as JSON, …], the newest of each way of scoring
///   "ponder": {"encoder": [{"update", "mean", "sd", "histogram", "running"}, …], "decoder": …}
///   "not_finite": {"lines": how many say so of the loss, "first": the update of the first}, if any does
///   "unreadable": lines of metrics.jsonl that are no JSON object; a torn last one is not counted
///   "thinned": whether points were left out
/// Throws base::BadInput where there are no options or no metrics, or a line of options.conf is no option.
nlohmann::ordered_json read_run(const std::filesystem::path& run_dir);

}  // namespace ut::launcher
