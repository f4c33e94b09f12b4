#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "launcher/commands.h"
#include "launcher/options/output_file.h"
#include "launcher/options/picture_names.h"
#include "launcher/process/build_info.h"
#include "launcher/process/say.h"
#include "launcher/report/inside_model.h"
#include "launcher/report/report_page.h"
#include "launcher/report/run_record.h"
#include "launcher/report/scaling_table.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// The options with which `ut evaluate` would evaluate the run.
Options evaluated_run(const std::string& run_dir, const Options& options) {
  std::vector<std::string> words{"evaluate",
                                 "--run-dir",
                                 run_dir,
                                 "--checkpoint",
                                 options.checkpoint,
                                 "--split",
                                 datasets::name_of(options.split)};
  if (!options.task.data.empty()) words.insert(words.end(), {"--data", options.task.data});
  return parse_options(words);
}

/// The last name of the directory or, if another run has the same, its path from the directory that has all runs.
std::string name_of_run(const std::string& run_dir, const std::vector<std::string>& all) {
  const auto whole_path = [](const std::string& given) {
    return fs::absolute(fs::path(given) / "").lexically_normal().parent_path();
  };
  const fs::path path = whole_path(run_dir);
  const auto has_name = [&](const std::string& other) { return whole_path(other).filename() == path.filename(); };
  if (path.has_filename() && std::ranges::count_if(all, has_name) == 1) return path.filename().string();
  fs::path shared = path.parent_path();
  const auto is_within = [&shared](const fs::path& other) {
    return std::ranges::mismatch(shared, other).in1 == shared.end();
  };
  for (const std::string& other : all)
    while (!is_within(whole_path(other))) shared = shared.parent_path();
  return path.lexically_relative(shared).string();
}

/// The reason with the run's directory before it, unless that is there already.
std::string about_run(const std::string& run_dir, std::string_view reason) {
  const std::string option = "--run-dir ";
  if (reason.starts_with(option + run_dir)) reason.remove_prefix(option.size());
  const bool is_named = reason.starts_with(run_dir + ":") || reason.starts_with((fs::path(run_dir) / "").string());
  return is_named ? std::string(reason) : fmt::format("{}: {}", run_dir, reason);
}

/// Adds what the run's model does at work, or the reason why it is left out. Throws base::BadInput.
void add_model(ordered_json& run, const std::string& run_dir, const Options& options) {
  try {
    const Options evaluated = evaluated_run(run_dir, options);
    if (evaluated.model.kind == core::ModelKind::lstm) {
      run["left_out"] = "the model is not shown at work: an LSTM takes no steps";
    } else if (ordered_json model = look_inside(evaluated, options.report); !model.is_null()) {
      run["model"] = std::move(model);
    } else {
      run["left_out"] = "the model is not shown at work: its outputs are not finite";
    }
  } catch (const base::BadInput& error) {
    const bool is_page = options.report.picture().empty();
    throw base::BadInput("{}{}", about_run(run_dir, error.what()),
                         is_page ? "; --no-model leaves the model at work out" : "");
  }
}

ordered_json collect(const Options& options, bool with_models) {
  const ReportOptions& given = options.report;
  const std::string build = build_info();
  ordered_json report{{"build", build.substr(0, build.find('\n'))}, {"split", datasets::name_of(options.split)}};
  report["runs"] = ordered_json::array();
  for (const std::string& run_dir : given.runs) {
    ordered_json run{{"name", name_of_run(run_dir, given.runs)}, {"directory", run_dir}};
    run.update(read_run(run_dir));
    report["runs"].push_back(std::move(run));
  }
  for (std::size_t index = 0; index < given.runs.size() && with_models && !given.no_model; ++index)
    add_model(report["runs"][index], given.runs[index], options);
  report["scaling"] = ordered_json::array();
  for (const std::string& file : given.scaling)
    report["scaling"].push_back({{"file", file}, {"rows", read_scaling_table(file)}});
  return report;
}

void say_what_is_left_out(const ordered_json& report) {
  for (const ordered_json& run : report["runs"])
    if (run.contains("left_out"))
      say(fmt::format("{}: {}", run["directory"].get<std::string>(), run["left_out"].get<std::string>()));
}

/// The path to write to: --out, or `name` in the first run's directory. Throws base::BadInput if it cannot be written,
/// or if --out is a file of another kind, that does not begin with `begins`.
std::string file_to_write(const ReportOptions& given, const std::string& name, std::string_view begins) {
  if (given.out.empty()) {
    const fs::path run = given.runs.front();
    std::error_code ignored;
    if (fs::is_directory(run, ignored) && ::access(run.c_str(), W_OK | X_OK) != 0)
      throw base::BadInput("{}: cannot be written to: {}; needs --out, a file in another directory", run.string(),
                           std::strerror(errno));
    return (run / name).string();
  }
  check_output_file("--out", given.out, begins);
  return given.out;
}

/// The picture's name with the number of the example it shows: examples that are too long are passed over.
std::string drawn_picture(const ordered_json& report, const std::string& picture) {
  for (const ordered_json& run : report["runs"])
    if (run.contains("model"))
      return fmt::format("{} of example {}", picture, run["model"]["examples"].front()["number"].get<std::int64_t>());
  return picture;
}

/// What the runs and tables lack if a picture comes out empty, and what would be right.
std::string what_is_missing(const ReportOptions& given, const std::string& picture, const ordered_json& report) {
  if (picture == "scaling")
    return given.scaling.empty() ? "needs --scaling FILE, a table that cluster/scaling.sh wrote"
                                 : "no row of the table has an efficiency; needs a table that cluster/scaling.sh wrote";
  if (given.runs.empty()) return "needs the directory of a run";
  const bool has_model = std::ranges::any_of(report["runs"], [](const auto& run) { return run.contains("model"); });
  if (shows_model(picture) && !has_model)
    return report["runs"].front()["left_out"].get<std::string>() + "; needs another run";
  const std::string halting = "ut train --halting act or act-copy";
  if (picture == "ponder-words") return "no position of the first model halts; needs a first run of " + halting;
  if (picture == "ponder" || picture == "ponder-histogram" || picture == "running")
    return "no run has recorded positions that halt; needs a run of " + halting;
  if (picture == "attention") return "the first model has no encoder; needs attention-decoder, or another first run";
  if (picture == "attention-decoder") return "the first model has no decoder; needs attention, or another first run";
  if (picture == "attention-source")
    return "the first model has no decoder that looks at a source; needs another first run";
  if (picture == "steps")
    return "no evaluations of a run make a curve; needs ut evaluate --steps N twice, with another N";
  if (picture == "perplexity") return "no run has recorded it; needs a run of a language model";
  if (picture == "bleu")
    return "no run has recorded it; needs a run of ut train --task translation --evaluation-scoring decoded";
  return "no run has recorded it; needs a run whose metrics.jsonl has it";
}

int write_picture(const Options& options) {
  const ReportOptions& given = options.report;
  const std::string& picture = given.picture();
  const bool as_png = !given.png.empty();
  const std::string extension = as_png ? "png" : "svg";
  if (given.no_model && shows_model(picture))
    throw base::BadInput("--{} {}: needs the model; leave --no-model out", extension, picture);
  const std::string file = file_to_write(given, picture + "." + extension, as_png ? "\x89PNG" : "<svg");
  ordered_json report = collect(options, shows_model(picture));
  report["chosen"] = {{"stack", given.stack}, {"step", given.step}, {"layer", given.layer}, {"head", given.head}};
  const std::string svg = report_picture(report, picture);
  if (svg.empty())
    throw base::BadInput("--{} {}: nothing to draw: {}", extension, picture, what_is_missing(given, picture, report));
  if (as_png)
    write_png(svg, file);
  else
    base::write_file_whole(file, svg);
  say_what_is_left_out(report);
  if (picture.starts_with("attention") && svg.find("class=\"word\"") == std::string::npos)
    say(fmt::format("{}: so many maps leave no room for words; --step or --head draws fewer", file));
  if (!options.quiet) print(fmt::format("{}: {}\n", file, drawn_picture(report, picture)));
  return 0;
}

}  // namespace

int report_runs(const Options& options) {
  const ReportOptions& given = options.report;
  if (!given.picture().empty()) return write_picture(options);
  const std::string file = file_to_write(given, "report.html", "<!doctype html>");
  const ordered_json report = collect(options, true);
  const std::string page = report_page(report);
  base::write_file_whole(file, page);
  say_what_is_left_out(report);
  const auto runs = std::ssize(given.runs);
  const std::string shown = runs == 0 ? "scaling" : base::counted(runs, "run");
  if (!options.quiet)
    print(
        fmt::format("{}: {}, {:.1f} MB; open it in a browser\n", file, shown, static_cast<double>(page.size()) / 1e6));
  return 0;
}

}  // namespace ut::launcher
