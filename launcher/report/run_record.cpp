#include "launcher/report/run_record.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "core/checkpoint_directory.h"
#include "launcher/options/config_text.h"
#include "launcher/options/option_sources.h"
#include "launcher/run/run_directory.h"

namespace ut::launcher {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_ponder_records = 200;
constexpr const char* usual_scoring = "teacher-forced";  // of lines that name none

ordered_json settings_of(const std::filesystem::path& file) {
  ordered_json settings = ordered_json::object();
  for (const ConfigLine& line : config_lines(base::read_file(file), file.string())) settings[line.name] = line.value;
  return settings;
}

/// Keeps the first and the last of the points [[x, y], …] and, of each stretch between them, the lowest and the
/// highest, in their order, so that no spike is lost.
ordered_json thinned(const ordered_json& points) {
  if (points.size() <= most_points) return points;
  const std::size_t stretches = most_points / 2 - 1;
  const auto value = [&](std::size_t point) {
    return points[point][1].is_number() ? points[point][1].get<double>() : std::nan("");
  };
  ordered_json kept = ordered_json::array({points.front()});
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const std::size_t begin = 1 + stretch * (points.size() - 2) / stretches;
    const std::size_t end = 1 + (stretch + 1) * (points.size() - 2) / stretches;
    std::size_t lowest = begin;
    std::size_t highest = begin;
    for (std::size_t point = begin; point < end; ++point) {
      if (value(point) < value(lowest) || std::isnan(value(lowest))) lowest = point;
      if (value(point) > value(highest) || std::isnan(value(highest))) highest = point;
    }
    kept.push_back(points[std::min(lowest, highest)]);
    if (lowest != highest) kept.push_back(points[std::max(lowest, highest)]);
  }
  kept.push_back(points.back());
  return kept;
}

/// The median of the points' heights; none if there are no heights.
std::optional<double> median(const ordered_json& points) {
  std::vector<double> heights;
  for (const ordered_json& point : points)
    if (point[1].is_number()) heights.push_back(point[1].get<double>());
  if (heights.empty()) return std::nullopt;
  const auto middle = heights.begin() + std::ssize(heights) / 2;
  std::ranges::nth_element(heights, middle);
  return *middle;
}

/// Whether a stack's ponder times have the form that a run writes.
bool is_pondered(const ordered_json& times) {
  const auto are_numbers = [&times](const char* key) {
    const auto list = times.find(key);
    return list == times.end() ||
           (list->is_array() && std::ranges::all_of(*list, [](const auto& number) { return number.is_number(); }));
  };
  return times.is_object() && times.contains("mean") && times["mean"].is_number() && times.contains("sd") &&
         times["sd"].is_number() && are_numbers("histogram") && are_numbers("running");
}

class Metrics {
 public:
  void add(const ordered_json& line) {
    const auto update = line.find("update");
    if (update == line.end() || !update->is_number()) return;
    for (const char* size : {"parameters", "flops_per_update", "flops_per_step"})
      if (line.contains(size)) sizes_[size] = line[size];
    const auto split = line.find("split");
    if (split != line.end() && split->is_string() && *split != "validation") {
      scores_[split->get<std::string>()] = line;
      return;
    }
    if (split == line.end() && line.contains("loss") && line["loss"].is_null()) {
      if (not_finite_lines_++ == 0) first_not_finite_ = *update;
    }
    ordered_json& curves = curves_[split == line.end() ? "training" : "validation"];
    if (split != line.end()) forget_other_scores(line, curves);
    for (const auto& [key, value] : line.items())
      if (key != "update" && (value.is_number() || value.is_null())) curves[key].push_back({*update, value});
    const auto ponder = line.find("ponder");
    if (split != line.end() || ponder == line.end() || !ponder->is_object()) return;
    for (const auto& [stack, times] : ponder->items())
      if (is_pondered(times)) {
        ordered_json record{{"update", *update}};
        record.update(times);
        ponder_[stack].push_back(std::move(record));
      }
  }

  /// Drops scores that were made in another way or of other examples: a curve shows the newest of them.
  void forget_other_scores(const ordered_json& line, ordered_json& curves) {
    const auto text = [&line](const char* key, const std::string& otherwise) {
      const auto found = line.find(key);
      return found != line.end() && found->is_string() ? found->get<std::string>() : otherwise;
    };
    const std::string scoring = text("scoring", usual_scoring);
    const std::string examples = text("examples_digest", examples_);
    const bool scored_otherwise = std::exchange(scoring_, scoring) != scoring;
    const std::string examples_before = std::exchange(examples_, examples);
    const bool other_examples = !examples_before.empty() && examples != examples_before;
    if (scored_otherwise || other_examples)
      for (const char* score : {"accuracy", "sequence_accuracy", "bleu"}) curves.erase(score);
    if (other_examples)
      for (const char* loss : {"validation_loss", "perplexity"}) curves.erase(loss);
  }

  void write_to(ordered_json& run) {
    run["thinned"] = false;
    if (const auto rate = median(curves_["training"].value("rows_per_s", ordered_json::array())))
      run["rows_per_s"] = *rate;
    for (auto& [part, curves] : curves_.items())
      for (auto& points : curves) {
        if (points.size() > most_points) run["thinned"] = true;
        points = thinned(points);
      }
    if (not_finite_lines_ > 0)
      run["not_finite"] = {{"lines", not_finite_lines_}, {"first", std::move(first_not_finite_)}};
    for (auto& records : ponder_) {
      ordered_json kept = ordered_json::array();
      const std::size_t every = (records.size() + most_ponder_records - 1) / most_ponder_records;
      if (every > 1) run["thinned"] = true;
      for (std::size_t index = (records.size() - 1) % every; index < records.size(); index += every)
        kept.push_back(std::move(records[index]));
      records = std::move(kept);
    }
    run["sizes"] = std::move(sizes_);
    run["curves"] = std::move(curves_);
    run["scores"] = std::move(scores_);
    run["ponder"] = std::move(ponder_);
  }

 private:
  ordered_json sizes_ = ordered_json::object();
  ordered_json curves_{{"training", ordered_json::object()}, {"validation", ordered_json::object()}};
  std::string scoring_ = usual_scoring;  // of the validations so far
  std::string examples_;                 // digest of theirs
  std::int64_t not_finite_lines_ = 0;    // lines whose loss is not finite
  ordered_json first_not_finite_;        // update of the first of them
  ordered_json scores_ = ordered_json::object();
  ordered_json ponder_ = ordered_json::object();
};

/// What `ut evaluate` has found of the run, without what is not shown: the newest result of each way of scoring, in the
/// order in which these were first used.
ordered_json evaluations_of(const std::filesystem::path& file) {
  ordered_json evaluations = ordered_json::array();
  std::map<std::string, std::size_t> place_of;  // by what was scored, and how
  if (!base::path_exists(file)) return evaluations;
  std::istringstream stream(base::read_file(file));
  for (std::string line; std::getline(stream, line);) {
    auto record = base::parse_json<ordered_json>(line);
    if (!record.is_object()) continue;
    record.erase("ranks");
    ordered_json way;
    for (const char* key : {"split", "updates", "scoring", "beam", "length_penalty", "decode_extra", "encoder_steps",
                            "decoder_steps", "evaluation_limit", "examples_digest", "options"})
      way[key] = record.value(key, ordered_json());
    const auto [known, is_new] = place_of.try_emplace(base::json_line(way), evaluations.size());
    if (is_new)
      evaluations.push_back(std::move(record));
    else
      evaluations[known->second] = std::move(record);
  }
  return evaluations;
}

/// Adds what training has recorded, nothing if there is no metrics.jsonl, and returns how many lines that is.
std::int64_t add_metrics(ordered_json& run, const std::filesystem::path& file) {
  Metrics metrics;
  std::int64_t unreadable = 0;
  std::int64_t read = 0;
  std::istringstream stream(base::path_exists(file) ? base::read_file(file) : "");
  for (std::string line; std::getline(stream, line);) {
    const auto record = base::parse_json<ordered_json>(line);
    const bool torn = stream.eof();
    if (record.is_object()) {
      metrics.add(record);
      ++read;
    } else if (!torn && !line.empty()) {
      ++unreadable;
    }
  }
  metrics.write_to(run);
  run["unreadable"] = unreadable;
  return read;
}

}  // namespace

ordered_json read_run(const std::filesystem::path& run_dir) {
  const auto options = run_dir / config_name;
  if (!base::path_exists(options))
    throw base::BadInput("{}: there is no run (no {}); ut train makes one", run_dir.string(), config_name);
  ordered_json run{{"settings", settings_of(options)}};
  const std::int64_t records = add_metrics(run, metrics_file(run_dir));
  run["evaluations"] = evaluations_of(evaluations_file(run_dir));
  if (records == 0 && run["evaluations"].empty() && core::all_checkpoints(checkpoint_directory(run_dir)).empty())
    throw base::BadInput(
        "{}: nothing to report, the run has no metrics (no whole line in metrics.jsonl), no evaluation and no "
        "checkpoint yet",
        run_dir.string());
  return run;
}

}  // namespace ut::launcher
