#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ut::launcher {

/// The most points that a curve keeps: the lowest and the highest of each stretch.
inline constexpr std::size_t most_points = 2000;

/// A run directory's options, metrics and evaluations, as a report shows them:
///   "settings": {name: value}
///   "sizes": {"parameters": number, "flops_per_update": [least, most], "flops_per_step": {stack: number}}, if recorded
///   "rows_per_s": the median, if recorded
///   "curves": {"training": {key: [[update, number or null], …]}, "validation": the same}
///   "scores": {split: its last line}, without the validation split
///   "evaluations": [what `ut evaluate` has printed as JSON, …], the newest of each way of scoring
///   "ponder": {"encoder": [{"update", "mean", "sd", "histogram", "running"}, …], "decoder": …}
///   "not_finite": {"lines": how many have a loss that is not finite, "first": the update of the first}, if any has
///   "unreadable": lines of metrics.jsonl that are no JSON object; a torn last one is not counted
///   "thinned": whether points were left out
/// An imported run has no metrics: no curves, scores and ponder times. Throws base::BadInput if there are no options,
/// if there are neither metrics nor evaluations nor a checkpoint, or if a line of options.conf is no option.
nlohmann::ordered_json read_run(const std::filesystem::path& run_dir);

}  // namespace ut::launcher
