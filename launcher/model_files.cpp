// A model as a directory that other programs read:
//   config.json         "model": what the task and the run determine; "options": the options of `ut train`, by name,
//                       from which ut import makes a model that must agree with "model"
//   vocabulary.txt      one symbol a line; symbol n, from 0, is row n of the table
//   model.safetensors   the parameters, multiplied from the right (x W), in the type that --dtype says
//   examples.safetensors, with --examples: source [rows, words] int64, -1 where a row has fewer words; source_offsets
//                       [examples + 1]; with a decoder target [rows] and target_offsets, and if not every target row is
//                       asked for, read_rows: the numbers of those that are; logits of each target row that is asked
//                       for or, without a decoder, of each example. Position 0 is a sequence's first row
// The README, "Models in and out", lists the parameters' names and shapes.

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/make_model.h"
#include "core/safetensors.h"
#include "datasets/make_task.h"
#include "launcher/commands.h"
#include "launcher/options/model_options.h"
#include "launcher/options/option_record.h"
#include "launcher/options/option_sources.h"
#include "launcher/options/option_table.h"
#include "launcher/process/say.h"
#include "launcher/process/unfinished_directory.h"
#include "launcher/run/rank_batch.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* vocabulary_name = "vocabulary.txt";

const char* architecture_name(core::Architecture architecture) {
  if (architecture == core::Architecture::encoder_decoder) return "encoder-decoder";
  return architecture == core::Architecture::encoder ? "encoder" : "decoder";
}

nlohmann::ordered_json describe_model(const core::ModelOptions& model) {
  return {{"architecture", architecture_name(model.architecture)},
          {"symbols", model.vocabulary},
          {"words_per_row", model.words_per_row},
          {"encoder_steps", model.encoder_steps},
          {"decoder_steps", model.decoder_steps}};
}

/// Throws base::BadInput if the file describes another model than the options make.
void check_description(const fs::path& file, const core::ModelOptions& model) {
  const auto config = base::parse_json(base::read_file(file));
  if (!config.contains("model")) return;
  const nlohmann::ordered_json made = describe_model(model);
  for (const auto& [name, value] : made.items())
    if (const auto& said = config["model"]; !said.is_object() || said.value(name, value) != value)
      throw base::BadInput("{}: \"model\": {} is {}, but {} by the \"options\" and the data", file.string(), name,
                           said.is_object() ? said[name].dump() : said.dump(), value.dump());
}

std::string config_of(const core::ModelOptions& model, const Options& options) {
  nlohmann::ordered_json config{{"model", describe_model(model)}, {"options", nlohmann::ordered_json::object()}};
  const auto recorded = recorded_options(options, command_train);
  for (const OptionEntry& entry : option_table()) {
    const bool is_of_this_place =
        entry.name == "data" || entry.name == "sentencepiece" || entry.group == "Ranks" || entry.group == "Run";
    if (entry.belongs_to(command_train) && entry.recorded && !is_of_this_place && !entry.get(options).empty())
      config["options"][entry.name] = recorded[entry.name];
  }
  return config.dump(2) + "\n";
}

at::Tensor offsets_of(const dist::SequenceExchange& exchange) {
  return at::tensor(exchange.local().offsets, at::kLong);
}

/// The first --examples examples of the test split and the model's logits for them, as the bytes of a safetensors file.
std::string examples_of(const core::Model& model, const datasets::Task& task, const Options& options) {
  const at::NoGradGuard no_graph;
  std::vector<datasets::Example> examples;
  const std::int64_t count = std::min(options.model_files.examples, task.size(datasets::Split::test));
  for (std::int64_t index = 0; index < count; ++index) examples.push_back(task.example(datasets::Split::test, index));
  const dist::Mesh mesh(dist::make_single_communicator(), 1);
  const core::Batch rows = rank_batch(examples, 0, mesh, options.exchange).rows;
  core::Safetensors content;
  if (rows.source) {
    content.tensors["source"] = rows.source_words;
    content.tensors["source_offsets"] = offsets_of(*rows.source);
  }
  content.tensors["logits"] = model.forward(rows, model.steps(), {}).logits;
  if (rows.target) {
    std::vector<std::int64_t> target;
    for (const datasets::Example& example : examples)
      target.insert(target.end(), example.target.begin(), example.target.end());
    content.tensors["target"] = at::tensor(target, at::kLong);
    content.tensors["target_offsets"] = offsets_of(*rows.target);
    if (rows.read_rows.defined()) content.tensors["read_rows"] = rows.read_rows;
  }
  return core::safetensors_bytes(content);
}

}  // namespace

int export_model(const Options& options) {
  const fs::path out = fs::path(options.model_files.out).lexically_normal();
  if (fs::symlink_status(out).type() != fs::file_type::not_found)
    throw base::BadInput("--out {}: is there already; name a new directory", out.string());
  const auto task = datasets::make_task(options.task);
  const auto model = load_model(options, *task, chosen_checkpoints(options));
  const fs::path directory = out.has_filename() ? out : out.parent_path();
  const UnfinishedDirectory unfinished(directory);
  const fs::path beside = unfinished / "model";
  fs::create_directory(beside);
  base::write_file_whole(beside / core::model_file_name, core::model_bytes(*model));
  base::write_file_whole(beside / model_config_name, config_of(model->options(), options));
  base::write_file_whole(beside / vocabulary_name, task->vocabulary().text());
  for (const datasets::KeptFile& file : task->kept_files()) base::write_file_whole(beside / file.name, file.content);
  if (options.model_files.examples > 0)
    base::write_file_whole(beside / "examples.safetensors", examples_of(*model, *task, options));
  fs::rename(beside, directory);
  base::sync_to_disk(fs::absolute(directory).parent_path());
  if (!options.quiet) print(fmt::format("{}: {} parameters\n", out.string(), model->parameters().elements()));
  return 0;
}

int import_model(const Options& options) {
  const fs::path from = options.model_files.from;
  for (const char* name : {vocabulary_name, core::model_file_name})
    if (!base::path_exists(from / name))
      throw base::BadInput("--from {}: has no {}, needs a directory that ut export wrote", from.string(), name);
  const auto task = datasets::make_task(options.task);
  const fs::path vocabulary = from / vocabulary_name;
  if (base::read_file(vocabulary) != task->vocabulary().text())
    throw base::BadInput(
        "{}: has other symbols than this task and data, which have {}; give the --data the model was trained on",
        vocabulary.string(), task->vocabulary().size());
  const core::ModelOptions described = model_options(options, *task);
  check_description(from / model_config_name, described);
  check_size(described, from / core::model_file_name);
  const auto model = core::make_model(described, options.seed, at::kCPU);
  core::load_model_file(from / core::model_file_name, *model);
  const core::Adam optimizer(options.optimizer, model->parameters());
  const RunDirectory run(options);
  run.keep(task->kept_files());
  const nlohmann::json state{{"vocabulary", task->vocabulary().digest()},
                             {"seed", options.seed},
                             {"encoder_steps", model->steps().encoder},
                             {"decoder_steps", model->steps().decoder},
                             {"options", to_config(options)}};
  core::write_checkpoint(run.checkpoints(), *model, optimizer, state);
  core::point_at(run.checkpoints(), "best", optimizer.updates());
  if (!options.quiet)
    print(fmt::format("run directory {}: {} parameters; ut train --resume trains it further\n", run.path().string(),
                      model->parameters().elements()));
  return 0;
}

}  // namespace ut::launcher
