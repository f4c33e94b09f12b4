#include "launcher/session.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "core/checkpoint.h"
#include "launcher/run_directory.h"

namespace ut::launcher {

core::ModelOptions model_options(const Options& options) {
  core::ModelOptions model = options.model;
  const core::Steps steps = steps_of(options);
  model.encoder_steps = steps.encoder;
  model.decoder_steps = steps.decoder;
  return model;
}

core::ModelOptions model_options(const Options& options, const datasets::Task& task) {
  core::ModelOptions model = model_options(options);
  model.architecture = task.has_target() ? core::Architecture::encoder_decoder : core::Architecture::encoder;
  model.vocabulary = task.vocabulary().size();
  model.words_per_row = task.words_per_row();
  return model;
}

core::ModelOptions bench_model(const Options& options) {
  core::ModelOptions model = model_options(options);
  model.architecture = options.bench.encoder_only ? core::Architecture::encoder : core::Architecture::encoder_decoder;
  model.vocabulary = options.bench.vocabulary;
  return model;
}

void check_vocabulary(const std::string& checkpoint, const std::string& recorded_digest, const datasets::Task& task) {
  if (recorded_digest != task.vocabulary().digest())
    throw base::BadInput(
        fmt::format("{}: made with another vocabulary than that of this data ({} symbols); give the --data it was "
                    "trained on",
                    checkpoint, task.vocabulary().size()));
}

core::Steps steps_of(const Options& options) {
  const auto of_stack = [&options](core::Halting halting, std::int64_t steps) {
    return halting != core::Halting::none && options.max_steps > 0 ? options.max_steps : steps;
  };
  return {of_stack(options.model.halting.encoder, options.model.encoder_steps),
          of_stack(options.model.halting.decoder, options.model.decoder_steps)};
}

std::unique_ptr<core::UniversalTransformer> load_model(const Options& options, const datasets::Task& task,
                                                       at::Device device) {
  const auto directory = checkpoint_directory(options.run_dir);
  const auto checkpoints = options.average > 0 ? core::newest_checkpoints(directory, options.average)
                                               : std::vector{core::find_checkpoint(directory, options.checkpoint)};
  const auto& checkpoint = checkpoints.front();
  const nlohmann::json state = core::read_state(checkpoint);
  check_vocabulary(checkpoint.string(), state.value("vocabulary", ""), task);
  core::ModelOptions trained = model_options(options, task);
  trained.encoder_steps = state.value("encoder_steps", trained.encoder_steps);
  trained.decoder_steps = state.value("decoder_steps", trained.decoder_steps);
  const core::Steps steps = steps_of(options);
  if (trained.step_signal == core::StepSignal::learned &&
      (steps.encoder > trained.encoder_steps || steps.decoder > trained.decoder_steps))
    throw base::BadInput(
        fmt::format("--steps {}: the model's learned step signal has {} steps in the encoder and {} in the decoder; "
                    "give at most that many",
                    std::max(steps.encoder, steps.decoder), trained.encoder_steps, trained.decoder_steps));
  auto model = std::make_unique<core::UniversalTransformer>(trained, options.seed, device);
  core::load_mean(checkpoints, *model);
  return model;
}

}  // namespace ut::launcher
