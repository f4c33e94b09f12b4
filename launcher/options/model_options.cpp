#include "launcher/options/model_options.h"

#include "datasets/vocabulary.h"

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
  for (const datasets::Example& example : examples) {
    decoding.limits.push_back(options.decode_extra < 0 ? task.longest_output(example)
                                                       : std::ssize(example.source) + options.decode_extra);
    decoding.given.emplace_back(example.target.begin(), example.target.begin() + example.first_label);
  }
  return decoding;
}

}  // namespace ut::launcher
