#include "tests/golden/hyperparameters.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace ut::golden {
namespace {

using nlohmann::json;

/// The values that the model under test supports, by hyper-parameter.
std::map<std::string, std::vector<json>> supported_values() {
  return {{"recurrence_type", {"basic", "act"}},
          {"act_type", {"basic", "global", "random", "accumulated"}},
          {"layer_preprocess_sequence", {"n", "none"}},
          {"layer_postprocess_sequence", {"da", "dan"}},
          {"norm_type", {"layer"}},
          {"norm_epsilon", {1e-6}},
          {"transformer_ffn_type", {"fc", "sepconv"}},
          {"ffn_layer", {"dense_relu_dense"}},
          {"add_position_timing_signal", {true}},
          {"add_step_timing_signal", {true}},
          {"step_timing_signal_type", {"sinusoid", "learned"}},
          {"add_or_concat_timing_signal", {"add"}},
          {"position_start_index", {nullptr}},
          {"shared_embedding_and_softmax_weights", {true}},
          {"multiply_embedding_mode", {"sqrt_depth"}},
          {"self_attention_type", {"dot_product"}},
          {"add_sru", {false}},
          {"mix_with_transformer", {nullptr, false, ""}}};
}

/// Hyper-parameters that may have any value here.
std::set<std::string> unrestricted_names() {
  return {"hidden_size",
          "filter_size",
          "num_heads",
          "num_rec_steps",
          "act_max_steps",
          "act_epsilon",
          "act_loss_weight",
          "label_smoothing",
          "use_pad_remover",
          "num_inrecurrence_layers",
          "use_target_space_embedding",
          "symbol_modality_num_shards"};
}

/// Whether a value switches its feature off, so that nothing need support it.
bool is_off(const json& value) {
  return value.is_null() || value == json(false) || value == json(0) || value == json(0.0) || value == json("") ||
         value == json("none");
}

core::HaltingOptions halting_options(const json& hparams) {
  core::HaltingOptions options;
  options.encoder = options.decoder = core::Halting::act;
  const std::string type = hparams.at("act_type").get<std::string>();
  options.output = type == "accumulated" ? core::ActOutput::accumulated : core::ActOutput::interpolated;
  if (type == "global") options.kind = core::ActKind::global;
  if (type == "random") options.kind = core::ActKind::random;
  options.threshold = 1 - hparams.at("act_epsilon").get<double>();
  return options;
}

}  // namespace

void check_supported(const json& hparams) {
  const auto supported = supported_values();
  const auto unrestricted = unrestricted_names();
  for (const auto& [name, value] : hparams.items()) {
    const auto found = supported.find(name);
    if (found == supported.end() ? unrestricted.contains(name) || is_off(value)
                                 : std::find(found->second.begin(), found->second.end(), value) != found->second.end())
      continue;
    throw NotSupported(fmt::format("{} {}", name, value.dump()));
  }
  const bool pre = hparams.value("layer_preprocess_sequence", "n") == "n";
  const std::string post = hparams.value("layer_postprocess_sequence", pre ? "da" : "dan");
  if (post != (pre ? "da" : "dan"))
    throw NotSupported(fmt::format("layer_postprocess_sequence {} with layer_preprocess_sequence {}", post,
                                   hparams.at("layer_preprocess_sequence").dump()));
}

core::ModelOptions model_options(const Case& golden, core::Precision precision) {
  const json& hparams = golden.hparams();
  core::ModelOptions options;
  options.d_model = hparams.at("hidden_size").get<std::int64_t>();
  options.heads = hparams.at("num_heads").get<std::int64_t>();
  options.ffn = hparams.at("filter_size").get<std::int64_t>();
  if (options.heads < 1 || options.d_model < 1 || options.d_model % options.heads != 0)
    throw base::BadInput("num_heads {} with hidden_size {}: needs heads that share the columns evenly",
                         hparams.at("num_heads").dump(), hparams.at("hidden_size").dump());
  options.encoder_steps = options.decoder_steps = hparams.at("num_rec_steps").get<std::int64_t>();
  if (hparams.at("recurrence_type") == "act") {
    options.encoder_steps = options.decoder_steps = hparams.at("act_max_steps").get<std::int64_t>();
    options.halting = halting_options(hparams);
  }
  options.block_layers = hparams.value("num_inrecurrence_layers", std::int64_t{1});
  options.norm = hparams.at("layer_preprocess_sequence") == "n" ? core::Norm::pre : core::Norm::post;
  options.residual = core::Residual::signal_in;
  options.signal = core::Signal::halves;
  options.step_signal =
      hparams.at("step_timing_signal_type") == "learned" ? core::StepSignal::learned : core::StepSignal::sinusoid;
  options.transition = hparams.at("transformer_ffn_type") == "sepconv" ? core::TransitionKind::separable_convolution
                                                                       : core::TransitionKind::feed_forward;
  options.residual_dropout = options.attention_dropout = options.transition_dropout = options.input_dropout = 0;
  if (golden.has("weights/shared_embedding")) options.vocabulary = golden.array("weights/shared_embedding").size(0);
  options.precision = precision;
  return options;
}

}  // namespace ut::golden
