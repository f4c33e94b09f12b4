#include "core/kernels/dropout.h"
#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

using core::HaltingOptions;
using core::ModelOptions;

constexpr std::int64_t most_steps = 1 << 16;
static_assert(most_steps < 1 << core::step_bits);

OptionEntry variant() {
  auto entry = choice("variant", "whose choices to take for norm, residual, signal, step-signal and act-output",
                      &Options::variant, {{"paper", Variant::paper}, {"tensor2tensor", Variant::tensor2tensor}});
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    if (!set(options, text)) return false;
    const bool paper = options.variant == Variant::paper;
    options.model.norm = paper ? core::Norm::post : core::Norm::pre;
    options.model.residual = paper ? core::Residual::signal_out : core::Residual::signal_in;
    options.model.signal = paper ? core::Signal::interleaved : core::Signal::halves;
    options.model.step_signal = paper ? core::StepSignal::sinusoid : core::StepSignal::learned;
    options.model.halting.output = paper ? core::ActOutput::accumulated : core::ActOutput::interpolated;
    return true;
  };
  return applied_first(entry);
}

OptionEntry steps() {
  auto entry = whole("steps", "how often the block is applied (T), in encoder and decoder",
                     in(&Options::model, &ModelOptions::encoder_steps), 1, most_steps);
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    if (!set(options, text)) return false;
    options.model.decoder_steps = options.model.encoder_steps;
    // Drops the --max-steps of an earlier source. That of the same source is applied later.
    options.max_steps = 0;
    return true;
  };
  return applied_first(entry);
}

OptionEntry decoder_steps() {
  return without_default(whole("decoder-steps", "how often the decoder's block is applied, if not --steps",
                               in(&Options::model, &ModelOptions::decoder_steps), 1, most_steps));
}

OptionEntry dropout() {
  auto entry = share("dropout", "all four dropout rates", in(&Options::model, &ModelOptions::residual_dropout));
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    if (!set(options, text)) return false;
    auto& model = options.model;
    model.attention_dropout = model.transition_dropout = model.input_dropout = model.residual_dropout;
    return true;
  };
  return applied_first(entry);
}

std::vector<std::pair<std::string, core::Halting>> halting_names() {
  return {{"none", core::Halting::none}, {"act", core::Halting::act}, {"act-copy", core::Halting::act_copy}};
}

OptionEntry halting() {
  auto entry = choice("halting", "whether each position decides when to stop, in encoder and decoder",
                      in(&Options::model, &ModelOptions::halting, &HaltingOptions::encoder), halting_names());
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    if (!set(options, text)) return false;
    options.model.halting.decoder = options.model.halting.encoder;
    return true;
  };
  return applied_first(entry);
}

/// What numbers and products are computed in, as one name.
OptionEntry precision() {
  OptionEntry entry;
  entry.name = "precision";
  entry.placeholder = "NAME";
  entry.expected = "one of float32, float64, bfloat16, bf16";
  entry.description = "float32 or float64, as --dtype; bfloat16: float32 with matrix products in bfloat16";
  entry.shows_default = false;
  entry.set = [](Options& options, const std::string& text) {
    options.model.bfloat16_products = text == "bfloat16" || text == "bf16";
    if (text == "float64") options.model.precision = core::Precision::float64;
    if (text == "float32") options.model.precision = core::Precision::float32;
    return options.model.bfloat16_products || text == "float64" || text == "float32";
  };
  entry.get = [](const Options& options) {
    if (options.model.bfloat16_products) return "bfloat16";
    return options.model.precision == core::Precision::float64 ? "float64" : "float32";
  };
  return entry;
}

}  // namespace

void add_model_shape(Table& table) {
  table.add("Model", command_train | command_bench, true,
            {choice("model", "the Universal Transformer, or long short-term memory with attention",
                    in(&Options::model, &ModelOptions::kind),
                    {{"universal", core::ModelKind::universal}, {"lstm", core::ModelKind::lstm}}),
             whole("lstm-layers", "lstm: number of layers, of the encoder and of the decoder",
                   in(&Options::model, &ModelOptions::lstm_layers), 1, 1 << core::layer_bits)});
  table.add(
      "Model", model_commands, true,
      {variant(),
       whole("d-model", "width of a position's representation", in(&Options::model, &ModelOptions::d_model), 2,
             1 << 20),
       whole("heads", "number of attention heads", in(&Options::model, &ModelOptions::heads), 1, 1 << core::head_bits),
       whole("ffn", "inner width of the transition", in(&Options::model, &ModelOptions::ffn), 1, 1 << 24)});
  table.add("Model", rank_commands | command_plan, true, {steps(), decoder_steps()});
  table.add("Model", model_commands, true,
            {whole("block-layers", "number of layers inside the tied block",
                   in(&Options::model, &ModelOptions::block_layers), 1, 1 << core::layer_bits),
             choice("transition", "what follows attention in a layer", in(&Options::model, &ModelOptions::transition),
                    {{"feed-forward", core::TransitionKind::feed_forward},
                     {"separable-convolution", core::TransitionKind::separable_convolution}})});
}

void add_halting(Table& table) {
  table.add("Halting", model_commands, true,
            {halting(), without_default(choice("decoder-halting", "halting in the decoder, if not as --halting",
                                               in(&Options::model, &ModelOptions::halting, &HaltingOptions::decoder),
                                               halting_names()))});
  table.add("Halting", rank_commands | command_plan, true,
            {whole("max-steps", "most steps of a position that halts; 0: as --steps and --decoder-steps say",
                   &Options::max_steps, 0, most_steps)});
  table.add(
      "Halting", model_commands, true,
      {choice("act-kind", "who decides: each position, the sequence's mean, or noise",
              in(&Options::model, &ModelOptions::halting, &HaltingOptions::kind),
              {{"basic", core::ActKind::basic}, {"global", core::ActKind::global}, {"random", core::ActKind::random}}),
       choice("act-output", "sum of weight x state, or y = w x + (1 - w) y",
              in(&Options::model, &ModelOptions::halting, &HaltingOptions::output),
              {{"accumulated", core::ActOutput::accumulated}, {"interpolated", core::ActOutput::interpolated}})});
  table.add(
      "Halting", rank_commands | command_plan, true,
      {real("halting-threshold", "1 - epsilon: a position stops once the sum of its halting probabilities exceeds this",
            in(&Options::model, &ModelOptions::halting, &HaltingOptions::threshold), "a number above 0 and up to 1",
            [](double x) { return x > 0 && x <= 1; })});
  table.add("Halting", model_commands, true,
            {real("halting-bias", "initial bias of the halting unit; with 0 or more most runs stay at two steps",
                  in(&Options::model, &ModelOptions::halting, &HaltingOptions::bias), "a number from -1e15 to 1e15",
                  [](double) { return true; }),
             not_negative("ponder-weight", "weight of the mean ponder time in the loss", &Options::ponder_weight)});
  table.add(
      "Halting", command_train, true,
      {whole("ponder-warmup", "updates over which that weight grows to its full value", &Options::ponder_warmup, 0)});
  table.add("Halting", rank_commands, true,
            {may_change_on_resume(not_negative(
                "balance", "act-copy: rows move between ranks once one has more than X times the mean; 0: never",
                in(&Options::model, &ModelOptions::halting, &HaltingOptions::balance)))});
}

void add_model_choices(Table& table) {
  table.add("Model", model_commands, true,
            {choice("norm", "layer normalisation after or before each part", in(&Options::model, &ModelOptions::norm),
                    {{"post", core::Norm::post}, {"pre", core::Norm::pre}}),
             choice("residual", "whether position and step signals stay in the state",
                    in(&Options::model, &ModelOptions::residual),
                    {{"signal-out", core::Residual::signal_out}, {"signal-in", core::Residual::signal_in}}),
             choice("signal", "order of sines and cosines in the signals", in(&Options::model, &ModelOptions::signal),
                    {{"interleaved", core::Signal::interleaved}, {"halves", core::Signal::halves}}),
             choice("step-signal", "kind of the signal that tells steps apart",
                    in(&Options::model, &ModelOptions::step_signal),
                    {{"sinusoid", core::StepSignal::sinusoid}, {"learned", core::StepSignal::learned}}),
             choice("dtype", "type of all numbers", in(&Options::model, &ModelOptions::precision),
                    {{"float32", core::Precision::float32}, {"float64", core::Precision::float64}}),
             precision()});
}

void add_dropout(Table& table) {
  table.add("Model", model_commands | command_import, false, {dropout()});
  table.add("Model", model_commands, true,
            {without_default(share("residual-dropout", "rate on each sub-layer's output, if not --dropout",
                                   in(&Options::model, &ModelOptions::residual_dropout))),
             without_default(share("attention-dropout", "rate on attention weights, if not --dropout",
                                   in(&Options::model, &ModelOptions::attention_dropout))),
             without_default(share("transition-dropout", "rate inside the transition, if not --dropout",
                                   in(&Options::model, &ModelOptions::transition_dropout))),
             without_default(share("input-dropout", "rate on the stack's input, if not --dropout",
                                   in(&Options::model, &ModelOptions::input_dropout)))});
}

void add_memory(Table& table) {
  table.add(
      "Memory", command_train | command_bench | command_plan, true,
      {may_change_on_resume(choice(
          "recompute",
          "what is not kept but computed again in the backward pass: nothing, attention's weights, or whole steps",
          in(&Options::model, &ModelOptions::recompute),
          {{"none", core::Recompute::none},
           {"attention", core::Recompute::attention},
           {"step", core::Recompute::step}}))});
}

}  // namespace ut::launcher::option_groups
