#include "launcher/session.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/make_model.h"
#include "core/state_reader.h"
#include "datasets/vocabulary.h"
#include "launcher/model_files.h"
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
  if (!task.has_target())
    model.architecture = core::Architecture::encoder;
  else
    model.architecture = task.has_source() ? core::Architecture::encoder_decoder : core::Architecture::decoder;
  model.points = task.points();
  model.vocabulary = task.vocabulary().size();
  model.words_per_row = task.words_per_row();
  return model;
}

core::ModelOptions bench_model(const Options& options) {
  core::ModelOptions model = model_options(options);
  if (options.bench.encoder_only) model.architecture = core::Architecture::encoder;
  if (options.bench.decoder_only) model.architecture = core::Architecture::decoder;
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

core::DecodingOptions decoding_options(const Options& options, const datasets::Task& task,
                                       std::span<const datasets::Example> examples) {
  core::DecodingOptions decoding{0, datasets::end_of_sequence_id, options.beam, options.length_penalty, {}};
  for (const datasets::Example& example : examples)
    decoding.limits.push_back(options.decode_extra < 0 ? task.longest_output(example)
                                                       : std::ssize(example.source) + options.decode_extra);
  return decoding;
}

std::vector<std::filesystem::path> chosen_checkpoints(const Options& options) {
  const auto directory = checkpoint_directory(options.run_dir);
  if (options.average > 0) return core::newest_checkpoints(directory, options.average);
  return {core::find_checkpoint(directory, options.checkpoint)};
}

std::unique_ptr<core::Model> load_model(const Options& options, const datasets::Task& task,
                                        const std::vector<std::filesystem::path>& checkpoints, at::Device device) {
  const auto& checkpoint = checkpoints.front();
  const nlohmann::json state = core::read_state(checkpoint);
  const core::StateReader read(state, checkpoint);
  check_vocabulary(checkpoint.string(), read.text("vocabulary", ""), task);
  core::ModelOptions trained = model_options(options, task);
  trained.encoder_steps = read.whole("encoder_steps", trained.encoder_steps, 1);
  trained.decoder_steps = read.whole("decoder_steps", trained.decoder_steps, 1);
  const core::Steps steps = steps_of(options);
  if (trained.step_signal == core::StepSignal::learned &&
      (steps.encoder > trained.encoder_steps || steps.decoder > trained.decoder_steps))
    throw base::BadInput(
        fmt::format("--steps {}: the model's learned step signal has {} steps in the encoder and {} in the decoder; "
                    "give at most that many",
                    std::max(steps.encoder, steps.decoder), trained.encoder_steps, trained.decoder_steps));
  check_size(trained, checkpoint / "model.safetensors");
  auto model = core::make_model(trained, options.seed, device);
  core::load_mean(checkpoints, *model);
  return model;
}

}  // namespace ut::launcher
