#include "launcher/run/trained_model.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/make_model.h"
#include "core/state_reader.h"
#include "datasets/vocabulary.h"
#include "launcher/cost/cost_model.h"
#include "launcher/options/command_table.h"
#include "launcher/options/model_options.h"
#include "launcher/options/record_checks.h"
#include "launcher/run/run_directory.h"

namespace ut::launcher {

void check_vocabulary(const std::string& checkpoint, const std::string& recorded_digest, const datasets::Task& task) {
  if (recorded_digest != task.vocabulary().digest())
    throw base::BadInput(
        "{}: made with another vocabulary than that of this data ({} symbols); give the --data it was trained on",
        checkpoint, task.vocabulary().size());
}

void check_size(const core::ModelOptions& model, const std::filesystem::path& file) {
  std::error_code missing;
  const auto bytes = static_cast<double>(std::filesystem::file_size(file, missing));
  if (missing) throw base::BadInput("{}: {}", file.string(), missing.message());
  constexpr double small = 1 << 20;
  if (parameter_count(model) * sizeof(float) > 2 * bytes + small)
    throw base::BadInput("{}: {:.0f} bytes, but the options make a model of {:.0f} parameters", file.string(), bytes,
                         parameter_count(model));
}

std::filesystem::path chosen_checkpoint(const Options& options) {
  const auto directory = checkpoint_directory(options.run_dir);
  if (core::all_checkpoints(directory).empty())
    throw base::BadInput("--run-dir {}: the run has no checkpoint yet", options.run_dir);
  const bool is_yet_to_come = options.checkpoint == "best" && !base::path_exists(directory / "best");
  return core::find_checkpoint(directory, is_yet_to_come ? "latest" : options.checkpoint);
}

std::vector<std::filesystem::path> chosen_checkpoints(const Options& options) {
  if (options.average > 0) return core::newest_checkpoints(checkpoint_directory(options.run_dir), options.average);
  return {chosen_checkpoint(options)};
}

std::unique_ptr<core::Model> load_model(const Options& options, const datasets::Task& task,
                                        const std::vector<std::filesystem::path>& checkpoints, at::Device device) {
  const auto& checkpoint = checkpoints.front();
  const nlohmann::json state = core::read_states(checkpoints).front();
  const core::StateReader read(state, checkpoint);
  check_as_in_checkpoint(read.text("options", ""), options, checkpoint.string(), find_command(options.command).bit);
  check_vocabulary(checkpoint.string(), read.text("vocabulary", ""), task);
  core::ModelOptions trained = model_options(options, task);
  trained.encoder_steps = read.whole("encoder_steps", trained.encoder_steps, 1);
  trained.decoder_steps = read.whole("decoder_steps", trained.decoder_steps, 1);
  const core::Steps steps = steps_of(options);
  if (trained.step_signal == core::StepSignal::learned &&
      (steps.encoder > trained.encoder_steps || steps.decoder > trained.decoder_steps))
    throw base::BadInput(
        "--steps {}: the model's learned step signal has {} steps in the encoder and {} in the decoder; give at most "
        "that many",
        std::max(steps.encoder, steps.decoder), trained.encoder_steps, trained.decoder_steps);
  check_size(trained, checkpoint / core::model_file_name);
  auto model = core::make_model(trained, options.seed, device);
  core::load_mean(checkpoints, *model);
  return model;
}

}  // namespace ut::launcher
