#include "launcher/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "launcher/exchange_names.h"
#include "launcher/machine_numbers.h"
#include "launcher/report_page.h"

namespace ut::launcher {
namespace {

constexpr unsigned run_commands = command_train | command_evaluate | command_decode;  // on ranks
constexpr unsigned model_commands = command_train | command_bench | command_plan;     // those of a new model
constexpr unsigned rank_commands = run_commands | command_bench;
constexpr unsigned model_file_commands = command_export | command_import;
constexpr unsigned every_command =
    rank_commands | command_plan | command_doctor | command_data | command_score | model_file_commands | command_report;
constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// Whole number in low..high. `field` gives the number of (const or changeable) Options.
template <typename Field>
OptionEntry whole(std::string name, std::string description, Field field, std::int64_t low,
                  std::int64_t high = unbounded) {
  OptionEntry entry;
  entry.name = std::move(name);
  entry.placeholder = "N";
  entry.description = std::move(description);
  entry.expected = high == unbounded ? fmt::format("a whole number of at least {}", low)
                                     : fmt::format("a whole number from {} to {}", low, high);
  entry.set = [=](Options& options, const std::string& text) {
    using Number = std::remove_reference_t<decltype(field(options))>;
    const auto number = parse_number<Number>(text);
    if (!number || std::cmp_less(*number, low)) return false;
    if (high != unbounded && std::cmp_greater(*number, high)) return false;
    field(options) = *number;
    return true;
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", field(options)); };
  return entry;
}

/// Real number for which `fits` holds; `expected` says the same in words.
template <typename Field, typename Fits>
OptionEntry real(std::string name, std::string description, Field field, std::string expected, Fits fits) {
  OptionEntry entry;
  entry.name = std::move(name);
  entry.placeholder = "X";
  entry.description = std::move(description);
  entry.expected = std::move(expected);
  entry.set = [=](Options& options, const std::string& text) {
    const auto number = parse_number<double>(text);
    if (!number || !std::isfinite(*number) || !fits(*number)) return false;
    field(options) = *number;
    return true;
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", field(options)); };
  return entry;
}

template <typename Field>
OptionEntry not_negative(std::string name, std::string description, Field field) {
  return real(std::move(name), std::move(description), field, "a number of at least 0",
              [](double x) { return x >= 0; });
}

template <typename Field>
OptionEntry positive(std::string name, std::string description, Field field) {
  return real(std::move(name), std::move(description), field, "a number above 0", [](double x) { return x > 0; });
}

/// A share of the whole: 0 is allowed, 1 is not (nothing would be left).
template <typename Field>
OptionEntry share(std::string name, std::string description, Field field) {
  return real(std::move(name), std::move(description), field, "a number from 0 to below 1",
              [](double x) { return x >= 0 && x < 1; });
}

/// One of several names, each of which stands for a value.
template <typename Value, typename Field>
OptionEntry choice(std::string name, std::string description, Field field,
                   const std::vector<std::pair<std::string, Value>>& values) {
  std::vector<std::string> names;
  for (const auto& [text, value] : values) names.push_back(text);
  OptionEntry entry;
  entry.name = std::move(name);
  entry.placeholder = "NAME";
  entry.expected = names.size() == 1 ? names.front() : fmt::format("one of {}", fmt::join(names, ", "));
  entry.description = fmt::format("{}: {}", description, fmt::join(names, ", "));
  entry.set = [=](Options& options, const std::string& text) {
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& pair) { return pair.first == text; });
    if (found == values.end()) return false;
    field(options) = found->second;
    return true;
  };
  entry.get = [=](const Options& options) {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& pair) { return pair.second == field(options); });
    return found == values.end() ? std::string() : found->first;
  };
  return entry;
}

template <typename Field>
OptionEntry one_of(std::string name, std::string description, Field field, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& text : names) values.emplace_back(text, text);
  return choice<std::string>(std::move(name), std::move(description), field, values);
}

template <typename Field>
OptionEntry path(std::string name, std::string placeholder, std::string description, Field field) {
  OptionEntry entry;
  entry.name = std::move(name);
  entry.placeholder = std::move(placeholder);
  entry.description = std::move(description);
  entry.expected = "a path";
  entry.set = [=](Options& options, const std::string& text) {
    field(options) = text;
    return !text.empty();
  };
  entry.get = [=](const Options& options) { return std::string(field(options)); };
  return entry;
}

template <typename Field>
OptionEntry flag(std::string name, std::string description, Field field) {
  OptionEntry entry;
  entry.name = std::move(name);
  entry.description = std::move(description);
  entry.expected = "true or false";
  entry.shows_default = false;
  entry.set = [=](Options& options, const std::string& text) {
    field(options) = text == "true";
    return text == "true" || text == "false";
  };
  entry.get = [=](const Options& options) { return std::string(field(options) ? "true" : "false"); };
  return entry;
}

OptionEntry first(OptionEntry entry) {
  entry.sets_others = true;
  return entry;
}

OptionEntry changeable(OptionEntry entry) {
  entry.may_change = true;
  return entry;
}

OptionEntry without_default(OptionEntry entry) {
  entry.shows_default = false;
  return entry;
}

/// A number that is 0 as long as it is not given, which cannot be given itself.
OptionEntry none_if_zero(OptionEntry entry) {
  entry.get = [get = entry.get](const Options& options) {
    const std::string value = get(options);
    return value == "0" ? std::string() : value;
  };
  return without_default(std::move(entry));
}

/// Collects groups of entries.
class Table {
 public:
  void add(const std::string& group, unsigned commands, bool recorded, std::vector<OptionEntry> added) {
    for (auto& entry : added) {
      entry.group = group;
      // What is imported becomes a run: all that training would write down can be given.
      entry.commands = recorded && (commands & command_train) != 0 ? commands | command_import : commands;
      entry.recorded = recorded;
      entries_.push_back(std::move(entry));
    }
  }
  std::vector<OptionEntry> entries() && { return std::move(entries_); }

 private:
  std::vector<OptionEntry> entries_;
};

/// A path that is recorded as an absolute one: a run can be resumed from another working directory.
template <typename Field>
OptionEntry absolute_path(std::string name, std::string placeholder, std::string description, Field field) {
  auto entry = path(std::move(name), std::move(placeholder), std::move(description), field);
  entry.set = [=](Options& options, const std::string& text) {
    if (!text.empty()) field(options) = std::filesystem::absolute(text).lexically_normal().string();
    return !text.empty();
  };
  return without_default(entry);
}

/// Names with commas between them.
template <typename Field>
OptionEntry names(std::string name, std::string description, Field field) {
  OptionEntry entry;
  entry.name = std::move(name);
  entry.placeholder = "NAMES";
  entry.description = std::move(description);
  entry.expected = "one name, or several with commas between them";
  entry.shows_default = false;
  entry.set = [=](Options& options, const std::string& text) {
    std::istringstream list(text);
    field(options).clear();
    for (std::string part; std::getline(list, part, ',');) {
      if (part.empty()) return false;
      field(options).push_back(part);
    }
    return !field(options).empty();
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", fmt::join(field(options), ",")); };
  return entry;
}

OptionEntry data_directory() {
  return absolute_path(
      "data", "DIR", "directory of the task's files, where it reads files",
      [](auto& o) -> auto& { return o.task.data; });
}

std::vector<std::string> babi_tasks() {
  std::vector<std::string> names;
  for (int task = 1; task <= 20; ++task) names.push_back(std::to_string(task));
  names.emplace_back("all");
  return names;
}

OptionEntry babi_task() {
  auto entry = one_of(
      "babi-task", "", [](auto& o) -> auto& { return o.task.babi_task; }, babi_tasks());
  entry.placeholder = "N";
  entry.expected = "1 to 20, or all";
  entry.description = "bAbI: 1 to 20, or all (joint training)";
  return entry;
}

/// Which files of a directory say the same in two languages; `ut data sentencepiece` takes them too.
void add_parallel_text(Table& table) {
  table.add("Task", command_train | command_data_sentencepiece | command_data_check, true,
            {path(
                 "source-language", "NAME", "translation: the ending of the files that are translated from, as en",
                 [](auto& o) -> auto& { return o.task.source_language; }),
             path(
                 "target-language", "NAME", "translation: the ending of the files that are translated to",
                 [](auto& o) -> auto& { return o.task.target_language; }),
             names(
                 "train-set", "translation: files to train on, without the endings; train without this",
                 [](auto& o) -> auto& { return o.task.train_sets; })});
  table.add("Task", command_train | command_data_check, true,
            {absolute_path(
                 "sentencepiece", "FILE", "translation: the SentencePiece model; without it that in --data",
                 [](auto& o) -> auto& { return o.task.sentencepiece; }),
             whole(
                 "longest-pair", "translation: pairs with more pieces on a side are not trained on",
                 [](auto& o) -> auto& { return o.task.longest_pair; }, 1, 1 << 20)});
  table.add("Task", command_train | command_evaluate | command_data_check, true,
            {changeable(names(
                 "validation-set", "translation: files to validate on; validation, valid, val or dev without this",
                 [](auto& o) -> auto& { return o.task.validation_sets; })),
             changeable(names(
                 "test-set", "translation: files to test on; all whose names begin with test without this",
                 [](auto& o) -> auto& { return o.task.test_sets; }))});
}

void add_task(Table& table) {
  table.add("Task", command_train, true,
            {without_default(one_of(
                "task", "what is learned", [](auto& o) -> auto& { return o.task.task; }, datasets::task_names()))});
  table.add("Task", command_data_check, false,
            {without_default(one_of(
                "task", "whose files are checked; without it all whose files are there",
                [](auto& o) -> auto& { return o.task.task; }, datasets::file_task_names()))});
  table.add("Task", run_commands | command_export | command_data_sentencepiece | command_data_check, true,
            {changeable(data_directory())});
  table.add("Task", command_train, true,
            {babi_task(),
             one_of("babi-size", "bAbI: questions per task (auto: what the directory has)",
                    [](auto& o) -> auto& { return o.task.babi_size; }, {"auto", "1k", "10k"}),
             whole(
                 "babi-memory", "bAbI: newest facts kept of a story; 0: all",
                 [](auto& o) -> auto& { return o.task.babi_memory; }, 0),
             one_of("agreement-form", "agreement: the verb's number, or all words and the verb's two forms ranked",
                    [](auto& o) -> auto& { return o.task.agreement_form; }, {"number-prediction", "language-model"}),
             one_of("lambada-form", "lambada: the last word as a class, as a word among those before it, or all words",
                    [](auto& o) -> auto& { return o.task.lambada_form; }, {"reading", "pointing", "language-model"}),
             whole(
                 "vocabulary-size", "lambada: words kept, the most frequent of the training text",
                 [](auto& o) -> auto& { return o.task.vocabulary_size; }, 1, 1 << 24),
             whole(
                 "train-length", "copy, reverse, addition: longest input in training",
                 [](auto& o) -> auto& { return o.task.train_length; }, 1),
             whole(
                 "execute-length", "execute-…: digits of a number; 0: as in the papers, 5 (copy, double, reverse: 55)",
                 [](auto& o) -> auto& { return o.task.execute_length; }, 0),
             whole(
                 "execute-nesting", "execute-…: operations of a program, one around the other",
                 [](auto& o) -> auto& { return o.task.execute_nesting; }, 1),
             one_of("execute-source", "execute-program: whose programs",
                    [](auto& o) -> auto& { return o.task.execute_source; }, {"sonnet", "zaremba"}),
             whole(
                 "train-examples", "generated tasks: examples to train on",
                 [](auto& o) -> auto& { return o.task.train_examples; }, 1),
             whole(
                 "data-seed", "of generated examples", [](auto& o) -> auto& { return o.task.seed; }, 0)});
  table.add("Task", command_train | command_evaluate, true,
            {changeable(whole(
                 "evaluation-length", "copy, reverse, addition: longest input in evaluation",
                 [](auto& o) -> auto& { return o.task.evaluation_length; }, 1)),
             changeable(whole(
                 "evaluation-examples", "generated tasks: examples of each evaluation split",
                 [](auto& o) -> auto& { return o.task.evaluation_examples; }, 1))});
}

OptionEntry variant() {
  auto entry = choice<Variant>("variant", "whose choices norm, residual, signal, step-signal and act-output follow",
                               [](auto& o) -> auto& { return o.variant; },
                               {{"paper", Variant::paper}, {"tensor2tensor", Variant::tensor2tensor}});
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
  return first(entry);
}

OptionEntry steps() {
  auto entry = whole(
      "steps", "times the block is applied (T), in encoder and decoder",
      [](auto& o) -> auto& { return o.model.encoder_steps; }, 1);
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    if (!set(options, text)) return false;
    options.model.decoder_steps = options.model.encoder_steps;
    options.max_steps = 0;  // that of a source that comes before: this one's is set after
    return true;
  };
  return first(entry);
}

OptionEntry decoder_steps() {
  return without_default(whole(
      "decoder-steps", "times the decoder's block is applied, where not --steps",
      [](auto& o) -> auto& { return o.model.decoder_steps; }, 1));
}

OptionEntry dropout() {
  auto entry = share(
      "dropout", "all four dropout rates", [](auto& o) -> auto& { return o.model.residual_dropout; });
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    if (!set(options, text)) return false;
    auto& model = options.model;
    model.attention_dropout = model.transition_dropout = model.input_dropout = model.residual_dropout;
    return true;
  };
  return first(entry);
}

void add_model_shape(Table& table) {
  table.add("Model", command_train | command_bench, true,
            {choice<core::ModelKind>("model", "the Universal Transformer, or long short-term memory with attention",
                                     [](auto& o) -> auto& { return o.model.kind; },
                                     {{"universal", core::ModelKind::universal}, {"lstm", core::ModelKind::lstm}}),
             whole(
                 "lstm-layers", "lstm: of the encoder, and of the decoder",
                 [](auto& o) -> auto& { return o.model.lstm_layers; }, 1, 1 << 10)});
  table.add("Model", model_commands, true,
            {variant(),
             whole(
                 "d-model", "width of a position's representation", [](auto& o) -> auto& { return o.model.d_model; }, 2,
                 1 << 20),
             whole(
                 "heads", "of attention", [](auto& o) -> auto& { return o.model.heads; }, 1, 1 << 20),
             whole(
                 "ffn", "inner width of the transition", [](auto& o) -> auto& { return o.model.ffn; }, 1, 1 << 24)});
  table.add("Model", rank_commands | command_plan, true, {steps(), decoder_steps()});
  table.add(
      "Model", model_commands, true,
      {whole(
           "block-layers", "layers inside the tied block", [](auto& o) -> auto& { return o.model.block_layers; }, 1),
       choice<core::TransitionKind>("transition", "after attention",
                                    [](auto& o) -> auto& { return o.model.transition; },
                                    {{"feed-forward", core::TransitionKind::feed_forward},
                                     {"separable-convolution", core::TransitionKind::separable_convolution}})});
}

std::vector<std::pair<std::string, core::Halting>> halting_names() {
  return {{"none", core::Halting::none}, {"act", core::Halting::act}, {"act-copy", core::Halting::act_copy}};
}

OptionEntry halting() {
  auto entry = choice<core::Halting>(
      "halting", "whether positions stop by themselves, in encoder and decoder",
      [](auto& o) -> auto& { return o.model.halting.encoder; }, halting_names());
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    if (!set(options, text)) return false;
    options.model.halting.decoder = options.model.halting.encoder;
    return true;
  };
  return first(entry);
}

void add_halting(Table& table) {
  table.add("Halting", model_commands, true,
            {halting(), without_default(choice<core::Halting>(
                            "decoder-halting", "in the decoder, where not --halting",
                            [](auto& o) -> auto& { return o.model.halting.decoder; }, halting_names()))});
  table.add("Halting", rank_commands | command_plan, true,
            {whole(
                "max-steps", "most steps of a position that halts; 0: as --steps and --decoder-steps say",
                [](auto& o) -> auto& { return o.max_steps; }, 0)});
  table.add(
      "Halting", model_commands, true,
      {choice<core::ActKind>(
           "act-kind", "who decides: each position, the sequence's mean, or noise",
           [](auto& o) -> auto& { return o.model.halting.kind; },
           {{"basic", core::ActKind::basic}, {"global", core::ActKind::global}, {"random", core::ActKind::random}}),
       choice<core::ActOutput>(
           "act-output", "sum of weight x state, or y = w x + (1 - w) y",
           [](auto& o) -> auto& { return o.model.halting.output; },
           {{"accumulated", core::ActOutput::accumulated}, {"interpolated", core::ActOutput::interpolated}}),
       real(
           "halting-threshold", "1 - epsilon: a position stops once its probabilities sum to more",
           [](auto& o) -> auto& { return o.model.halting.threshold; }, "a number above 0 and up to 1",
           [](double x) { return x > 0 && x <= 1; }),
       real(
           "halting-bias", "of the halting unit at the start; from 0 on most runs stay at two steps",
           [](auto& o) -> auto& { return o.model.halting.bias; }, "a number", [](double) { return true; }),
       not_negative(
           "ponder-weight", "of the mean ponder time in the loss", [](auto& o) -> auto& { return o.ponder_weight; })});
  table.add("Halting", command_train, true,
            {whole(
                "ponder-warmup", "updates until that weight is reached",
                [](auto& o) -> auto& { return o.ponder_warmup; }, 0)});
  table.add("Halting", rank_commands, true,
            {changeable(not_negative(
                "balance", "act-copy: rows move once a rank runs more than X times the mean; 0: never",
                [](auto& o) -> auto& { return o.model.halting.balance; }))});
}

/// Of what is computed, in one word.
OptionEntry precision() {
  OptionEntry entry;
  entry.name = "precision";
  entry.placeholder = "NAME";
  entry.expected = "one of float32, float64, bfloat16, bf16";
  entry.description = "float32 or float64, as --dtype; bfloat16: float32 but for matrix products";
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

void add_model_choices(Table& table) {
  table.add(
      "Model", model_commands, true,
      {choice<core::Norm>("norm", "layer normalisation after or before each part",
                          [](auto& o) -> auto& { return o.model.norm; },
                          {{"post", core::Norm::post}, {"pre", core::Norm::pre}}),
       choice<core::Residual>("residual", "whether the signal stays in the state",
                              [](auto& o) -> auto& { return o.model.residual; },
                              {{"signal-out", core::Residual::signal_out}, {"signal-in", core::Residual::signal_in}}),
       choice<core::Signal>("signal", "order of sines and cosines", [](auto& o) -> auto& { return o.model.signal; },
                            {{"interleaved", core::Signal::interleaved}, {"halves", core::Signal::halves}}),
       choice<core::StepSignal>("step-signal", "of the steps", [](auto& o) -> auto& { return o.model.step_signal; },
                                {{"sinusoid", core::StepSignal::sinusoid}, {"learned", core::StepSignal::learned}}),
       choice<core::Precision>("dtype", "of all numbers", [](auto& o) -> auto& { return o.model.precision; },
                               {{"float32", core::Precision::float32}, {"float64", core::Precision::float64}}),
       precision()});
}

void add_dropout(Table& table) {
  table.add("Model", model_commands, false, {dropout()});
  table.add("Model", model_commands, true,
            {without_default(share(
                 "residual-dropout", "on each sub-layer's output, where not --dropout",
                 [](auto& o) -> auto& { return o.model.residual_dropout; })),
             without_default(share(
                 "attention-dropout", "on attention weights, where not --dropout",
                 [](auto& o) -> auto& { return o.model.attention_dropout; })),
             without_default(share(
                 "transition-dropout", "inside the transition, where not --dropout",
                 [](auto& o) -> auto& { return o.model.transition_dropout; })),
             without_default(share(
                 "input-dropout", "on the stack's input, where not --dropout",
                 [](auto& o) -> auto& { return o.model.input_dropout; }))});
}

OptionEntry schedule() {
  auto entry = choice<core::ScheduleKind>("schedule", "of the learning rate",
                                          [](auto& o) -> auto& { return o.optimizer.schedule.kind; },
                                          {{"inverse-square-root", core::ScheduleKind::inverse_square_root},
                                           {"constant", core::ScheduleKind::constant},
                                           {"cosine", core::ScheduleKind::cosine}});
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    auto& chosen = options.optimizer.schedule;
    const bool was_factor = chosen.kind == core::ScheduleKind::inverse_square_root;
    if (!set(options, text)) return false;
    const bool is_factor = chosen.kind == core::ScheduleKind::inverse_square_root;
    // There the learning rate is a factor of order 1, elsewhere the rate itself: neither's value suits the other.
    if (is_factor != was_factor) {
      chosen.learning_rate = is_factor ? 2.0 : 1e-3;
      chosen.warmup = is_factor ? 8000 : 300;
    }
    return true;
  };
  return first(entry);
}

void add_optimizer(Table& table) {
  table.add(
      "Training", command_train, true,
      {schedule(),
       changeable(positive(
           "learning-rate", "the rate; with inverse-square-root the constant in front, there 2 by default",
           [](auto& o) -> auto& { return o.optimizer.schedule.learning_rate; })),
       whole(
           "warmup", "updates until the full learning rate; with inverse-square-root 8000 by default",
           [](auto& o) -> auto& { return o.optimizer.schedule.warmup; }, 0),
       share(
           "beta1", "Adam: of the gradient's mean", [](auto& o) -> auto& { return o.optimizer.beta1; }),
       share(
           "beta2", "Adam: of the gradient's square", [](auto& o) -> auto& { return o.optimizer.beta2; }),
       positive(
           "epsilon", "Adam: added to the root", [](auto& o) -> auto& { return o.optimizer.epsilon; }),
       not_negative(
           "weight-decay", "decoupled from the gradient", [](auto& o) -> auto& { return o.optimizer.weight_decay; }),
       not_negative(
           "clip-norm", "largest global norm of the gradient; 0: not clipped",
           [](auto& o) -> auto& { return o.optimizer.clip_norm; })});
}

void add_training(Table& table) {
  table.add(
      "Training", command_train, true,
      {whole(
           "batch", "sequences per micro-batch, over all ranks", [](auto& o) -> auto& { return o.batch; }, 1),
       whole(
           "batch-rows", "instead: rows per micro-batch, source and target together, over all ranks; 0: --batch",
           [](auto& o) -> auto& { return o.batch_rows; }, 0),
       whole(
           "batch-window", "with --batch-rows: successive examples of which those of like length come together",
           [](auto& o) -> auto& { return o.batch_window; }, 1, 1 << 20),
       whole(
           "accumulate", "micro-batches per update", [](auto& o) -> auto& { return o.accumulate; }, 1),
       share(
           "label-smoothing", "share of the probability given to all symbols",
           [](auto& o) -> auto& { return o.label_smoothing; }),
       whole(
           "random-offset", "largest random offset of a sequence's positions; 0: none",
           [](auto& o) -> auto& { return o.random_offset; }, 0),
       whole(
           "seed", "of parameters, dropout and the order of examples", [](auto& o) -> auto& { return o.seed; }, 0)});
  add_optimizer(table);
  table.add(
      "Training", command_train, true,
      {changeable(whole(
           "max-updates", "end after this many", [](auto& o) -> auto& { return o.max_updates; }, 1)),
       changeable(not_negative(
           "max-hours", "end after this long; 0: no bound", [](auto& o) -> auto& { return o.max_hours; })),
       changeable(not_negative(
           "target-score", "end once validation reaches it, as 0.98; 0: no bound",
           [](auto& o) -> auto& { return o.target_score; })),
       changeable(whole(
           "log-every", "updates between lines of metrics.jsonl", [](auto& o) -> auto& { return o.log_every; }, 1)),
       changeable(whole(
           "evaluate-every", "updates between evaluations; 0: only at the end",
           [](auto& o) -> auto& { return o.evaluate_every; }, 0)),
       changeable(whole(
           "checkpoint-every", "updates between checkpoints; 0: only at the end",
           [](auto& o) -> auto& { return o.checkpoint_every; }, 0)),
       changeable(whole(
           "keep-checkpoints", "newest ones kept, beside the best", [](auto& o) -> auto& { return o.keep_checkpoints; },
           1)),
       changeable(whole(
           "keep-every", "updates between checkpoints that are kept for good; 0: none is",
           [](auto& o) -> auto& { return o.keep_every; }, 0)),
       changeable(choice<OnNonFinite>("on-nonfinite", "what becomes of an update whose gradients are not finite",
                                      [](auto& o) -> auto& { return o.on_nonfinite; },
                                      {{"skip", OnNonFinite::skip}, {"stop", OnNonFinite::stop}})),
       changeable(whole(
           "nonfinite-limit", "such updates in a row that are skipped; the next one ends the run",
           [](auto& o) -> auto& { return o.nonfinite_limit; }, 1)),
       changeable(whole(
           "check-ranks", "updates between comparisons of the ranks' parameters, which are the same bits; 0: none",
           [](auto& o) -> auto& { return o.check_ranks; }, 0))});
}

template <typename Field>
OptionEntry checkpoint(std::string description, Field field) {
  OptionEntry entry;
  entry.name = "checkpoint";
  entry.placeholder = "NAME";
  entry.expected = "latest, best or update-N";
  entry.description = std::move(description);
  entry.set = [=](Options& options, const std::string& text) {
    const std::string prefix = "update-";
    const bool numbered = text.starts_with(prefix) && parse_number<std::uint32_t>(text.substr(prefix.size()));
    if (text != "latest" && text != "best" && !numbered) return false;
    field(options) = text;
    return true;
  };
  entry.get = [=](const Options& options) { return field(options); };
  return entry;
}

OptionEntry decode_extra() {
  auto entry = without_default(whole(
      "decode-extra", "outputs are at most so many symbols longer than their source; without it as the task has them",
      [](auto& o) -> auto& { return o.decode_extra; }, 0, 1 << 20));
  entry.get = [get = entry.get](const Options& options) { return options.decode_extra < 0 ? "" : get(options); };
  return entry;
}

void add_evaluation(Table& table) {
  table.add("Evaluation", command_evaluate | command_report, false,
            {choice<datasets::Split>("split", "examples that are scored, or shown in a report",
                                     [](auto& o) -> auto& { return o.split; },
                                     {{"test", datasets::Split::test},
                                      {"validation", datasets::Split::validation},
                                      {"train", datasets::Split::train},
                                      {"control", datasets::Split::control}})});
  table.add("Evaluation", command_evaluate | command_decode | command_export | command_report, false,
            {checkpoint(
                "of the run: latest, best or update-N", [](auto& o) -> auto& { return o.checkpoint; })});
  table.add("Evaluation", command_evaluate | command_decode | command_export, false,
            {without_default(whole(
                "average", "instead: the mean of the parameters of the newest N checkpoints",
                [](auto& o) -> auto& { return o.average; }, 1, 1 << 20))});
  table.add("Evaluation", command_evaluate | command_decode, false,
            {whole(
                 "beam", "prefixes that the search for an output goes on with; 1: greedy",
                 [](auto& o) -> auto& { return o.beam; }, 1, 1 << 16),
             not_negative(
                 "length-penalty", "A of a wider beam, which divides scores by ((5 + length) / 6)^A",
                 [](auto& o) -> auto& { return o.length_penalty; }),
             decode_extra()});
  table.add("Evaluation", run_commands, true,
            {changeable(whole(
                "evaluation-batch", "sequences at once, over all ranks",
                [](auto& o) -> auto& { return o.evaluation_batch; }, 1))});
  table.add("Evaluation", command_train | command_evaluate, true,
            {changeable(whole(
                "evaluation-limit", "examples per evaluation; 0: all",
                [](auto& o) -> auto& { return o.evaluation_limit; }, 0))});
  table.add("Evaluation", command_evaluate, false,
            {flag(
                 "json", "print the scores as one JSON object", [](auto& o) -> auto& { return o.json; }),
             flag(
                 "teacher-forced", "score each symbol after the right ones, instead of the model's own (greedy)",
                 [](auto& o) -> auto& { return o.teacher_forced; })});
}

/// 0 or more than 1: X is a mean of numbers of steps.
OptionEntry bench_ponder() {
  return real(
      "bench-ponder", "ponder times are drawn, of this mean, and not decided by halting units; 0: they decide",
      [](auto& o) -> auto& { return o.bench.ponder; }, "0 or a number from 1 up to the most steps of a position",
      [](double x) { return x == 0 || x >= 1; });
}

OptionEntry bench_skew() {
  return share(
      "bench-skew", "by this share the first half of a sequence ponders more than the mean, the second less",
      [](auto& o) -> auto& { return o.bench.ponder_skew; });
}

void add_bench(Table& table) {
  table.add(
      "Batch", command_bench | command_plan, true,
      {whole(
           "batch", "sequences per update, over all ranks", [](auto& o) -> auto& { return o.batch; }, 1),
       whole(
           "length", "symbols of a sequence, and of its target", [](auto& o) -> auto& { return o.bench.length; }, 1),
       whole(
           "min-length", "lengths are drawn from N to --length; 0: all have that",
           [](auto& o) -> auto& { return o.bench.min_length; }, 0),
       flag(
           "encoder-only", "no decoder and no targets: one label a sequence, read at its first position",
           [](auto& o) -> auto& { return o.bench.encoder_only; }),
       flag(
           "decoder-only", "no encoder and no sources: a language model",
           [](auto& o) -> auto& { return o.bench.decoder_only; }),
       whole(
           "vocab", "different symbols", [](auto& o) -> auto& { return o.bench.vocabulary; }, 2),
       whole(
           "seed", "of parameters, dropout, symbols, lengths and drawn ponder times",
           [](auto& o) -> auto& { return o.seed; }, 0)});
  table.add("Batch", command_bench | command_plan, true, {bench_ponder()});
  table.add("Measurement", command_bench, true,
            {bench_skew(), whole(
                               "iterations", "updates that are measured, after some that are not",
                               [](auto& o) -> auto& { return o.bench.iterations; }, 1)});
  table.add("Measurement", command_bench, true,
            {flag(
                "greedy", "greedy decoding of --length symbols is measured, not updates",
                [](auto& o) -> auto& { return o.bench.decode; })});
  table.add("Measurement", command_bench, false,
            {path(
                 "profile", "FILE", "where a trace of one more update is written, for Perfetto or Chrome",
                 [](auto& o) -> auto& { return o.bench.profile; }),
             flag(
                 "json", "print the results as one JSON object", [](auto& o) -> auto& { return o.json; })});
}

void add_devices(Table& table) {
  table.add(
      "Ranks", rank_commands, true,
      {changeable(choice<DeviceChoice>(
           "device", "where the ranks compute; a rank gets a GPU of its own", [](auto& o) -> auto& { return o.device; },
           {{"auto", DeviceChoice::automatic}, {"cpu", DeviceChoice::cpu}, {"cuda", DeviceChoice::cuda}})),
       changeable(choice<CommunicatorChoice>("communicator", "what carries the ranks' messages",
                                             [](auto& o) -> auto& { return o.communicator; },
                                             {{"auto", CommunicatorChoice::automatic},
                                              {"mpi", CommunicatorChoice::mpi},
                                              {"nccl", CommunicatorChoice::nccl}})),
       changeable(flag(
           "share-gpus", "let ranks have a GPU in common: slow, for trying things out",
           [](auto& o) -> auto& { return o.share_gpus; }))});
}

void add_plan(Table& table) {
  const auto file = [](const char* name, const char* description, auto field) {
    return path(name, "FILE", description, field);
  };
  table.add("Machine", command_plan, false,
            {without_default(whole(
                 "nodes", "of the cluster; without it as many as --ranks need",
                 [](auto& o) -> auto& { return o.plan.nodes; }, 1, 1 << 20)),
             without_default(whole(
                 "gpus-per-node", "ranks of a node, one for each GPU; without it as the machine's numbers have it",
                 [](auto& o) -> auto& { return o.plan.gpus_per_node; }, 1, 1 << 20)),
             without_default(one_of(
                 "machine", "by its data sheet instead of measuring", [](auto& o) -> auto& { return o.plan.machine; },
                 machine_names())),
             file(
                 "calibration", "numbers of a machine, instead of measuring",
                 [](auto& o) -> auto& { return o.plan.calibration; }),
             file(
                 "save-calibration", "where the numbers are written",
                 [](auto& o) -> auto& { return o.plan.save_calibration; }),
             flag(
                 "json", "print the plan as one JSON object", [](auto& o) -> auto& { return o.json; })});
}

OptionEntry exchange_form() {
  auto entry = choice<dist::ExchangeForm>(
      "exchange", "how keys and values reach the ranks of a sequence", [](auto& o) -> auto& { return o.exchange.form; },
      exchange_forms());
  entry.description += "; auto: form, what is sent and shards by ut plan";
  entry.expected += " or auto";
  entry.set = [named = entry.set](Options& options, const std::string& text) {
    options.plan_exchange = text == "auto";
    return options.plan_exchange || named(options, text);
  };
  entry.get = [named = entry.get](const Options& options) { return options.plan_exchange ? "auto" : named(options); };
  return entry;
}

void add_ranks(Table& table) {
  auto ranks = none_if_zero(changeable(whole(
      "ranks", "processes; without mpirun or srun around it the program starts them",
      [](auto& o) -> auto& { return o.ranks; }, 1, 1 << 20)));
  table.add("Ranks", rank_commands | command_plan | command_doctor, true, {ranks});
  table.add(
      "Ranks", rank_commands, true,
      {none_if_zero(changeable(whole(
           "sequence-parallel", "ranks that share a sequence's positions; divides the ranks; by ut plan if not given",
           [](auto& o) -> auto& { return o.sequence_parallel; }, 1, 1 << 20))),
       changeable(exchange_form()),
       changeable(choice<dist::Sent>(
           "exchange-sends", "what is sent for a row, 2d numbers or d",
           [](auto& o) -> auto& { return o.exchange.sent; }, exchange_sends())),
       changeable(choice<dist::Cut>(
           "shards", "which positions a rank holds in the decoder", [](auto& o) -> auto& { return o.exchange.cut; },
           exchange_cuts()))});
  table.add("Ranks", rank_commands | command_plan | command_doctor, true,
            {changeable(whole(
                 "threads", "per rank; 0: cores / ranks", [](auto& o) -> auto& { return o.threads; }, 0, 4096)),
             changeable(absolute_path(
                 "hostfile", "FILE", "hosts to start the ranks on, with ssh; a line each: HOST slots=N",
                 [](auto& o) -> auto& { return o.hostfile; })),
             changeable(whole(
                 "timeout", "seconds that ranks wait for one another before they give the job up",
                 [](auto& o) -> auto& { return o.timeout; }, 10, 1 << 20))});
  add_devices(table);
}

const std::vector<std::pair<std::string, int>>& signal_names() {
  static const std::vector<std::pair<std::string, int>> names = {
      {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"INT", SIGINT}, {"HUP", SIGHUP}, {"XCPU", SIGXCPU}};
  return names;
}

/// Names of signals, with commas between them.
OptionEntry stop_signals() {
  OptionEntry entry;
  entry.name = "stop-signals";
  entry.placeholder = "NAMES";
  entry.description = "what asks for a checkpoint and an end after the update; USR1 always does";
  entry.expected = "names of signals, as TERM,USR1,INT, among TERM, USR1, USR2, INT, HUP and XCPU";
  entry.set = [](Options& options, const std::string& text) {
    options.stop_signals.clear();
    std::istringstream list(text);
    for (std::string name; std::getline(list, name, ',');) {
      const auto found = std::ranges::find(signal_names(), name, &std::pair<std::string, int>::first);
      if (found == signal_names().end()) return false;
      options.stop_signals.push_back(found->second);
    }
    return !options.stop_signals.empty();
  };
  entry.get = [](const Options& options) {
    std::vector<std::string> names;
    for (const int signal : options.stop_signals)
      names.push_back(std::ranges::find(signal_names(), signal, &std::pair<std::string, int>::second)->first);
    return fmt::format("{}", fmt::join(names, ","));
  };
  return changeable(entry);
}

void add_memory(Table& table) {
  table.add(
      "Memory", command_train | command_bench | command_plan, true,
      {changeable(choice<core::Recompute>(
          "recompute", "what the way back makes again and is not kept: nothing, attention's weights, or whole steps",
          [](auto& o) -> auto& { return o.model.recompute; },
          {{"none", core::Recompute::none},
           {"attention", core::Recompute::attention},
           {"step", core::Recompute::step}}))});
}

void add_model_files(Table& table) {
  table.add("Model files", command_export, false,
            {path(
                 "out", "DIR", "directory that is made for model.safetensors, config.json and vocabulary.txt",
                 [](auto& o) -> auto& { return o.exchange_of_models.out; }),
             whole(
                 "examples", "of the test split, whose symbols and logits go into examples.safetensors",
                 [](auto& o) -> auto& { return o.exchange_of_models.examples; }, 0)});
  table.add("Model files", command_import, false,
            {path(
                "from", "DIR", "directory that ut export, or another program, has made",
                [](auto& o) -> auto& { return o.exchange_of_models.from; })});
}

void add_run(Table& table) {
  table.add("Run", run_commands | model_file_commands, false,
            {path(
                "run-dir", "DIR", "directory of the run: options, metrics, checkpoints",
                [](auto& o) -> auto& { return o.run_dir; })});
  table.add("Run", command_doctor, false,
            {path(
                "run-dir", "DIR", "directory for runs that every rank should be able to write to",
                [](auto& o) -> auto& { return o.run_dir; })});
  table.add("Run", command_train, true, {stop_signals()});
  table.add("Run", command_train, false,
            {flag(
                 "resume", "go on with the run in --run-dir, from its latest checkpoint",
                 [](auto& o) -> auto& { return o.resume; }),
             checkpoint(
                 "with --resume: go on from latest, best or update-N; what came after it is done again",
                 [](auto& o) -> auto& { return o.resume_from; })});
  table.add("Run", every_command, false,
            {flag(
                "quiet", "say only errors and results", [](auto& o) -> auto& { return o.quiet; })});
}

OptionEntry output_path(std::string placeholder, std::string description) {
  return path(
      "out", std::move(placeholder), std::move(description), [](auto& o) -> auto& { return o.data.out; });
}

void add_stories(Table& table) {
  table.add("Stories", command_data_stories, false,
            {whole(
                 "facts", "supporting facts of each question", [](auto& o) -> auto& { return o.data.facts; }, 1, 3),
             whole(
                 "train", "questions to train on", [](auto& o) -> auto& { return o.data.train; }, 1),
             whole(
                 "validation", "questions to validate on; 0: no such file",
                 [](auto& o) -> auto& { return o.data.validation; }, 0),
             whole(
                 "test", "questions to test on", [](auto& o) -> auto& { return o.data.test; }, 1),
             output_path("DIR", "directory the files are written to"),
             whole(
                 "seed", "of the stories", [](auto& o) -> auto& { return o.seed; }, 0)});
}

void add_sentencepiece(Table& table) {
  table.add(
      "Pieces", command_data_sentencepiece, false,
      {whole(
           "vocabulary-size", "pieces, of both languages together",
           [](auto& o) -> auto& { return o.data.pieces.vocabulary_size; }, 1, 1 << 24),
       one_of("model-kind", "how text is cut", [](auto& o) -> auto& { return o.data.pieces.kind; }, {"unigram", "bpe"}),
       real(
           "character-coverage", "share of the text's characters that pieces are made of; the rarest are not",
           [](auto& o) -> auto& { return o.data.pieces.character_coverage; }, "a number above 0 and up to 1",
           [](double x) { return x > 0 && x <= 1; }),
       output_path("FILE", "where the model is written; without it sentencepiece.model in --data")});
}

void add_fetch(Table& table) {
  table.add("Fetch", command_data_fetch, false,
            {path(
                 "name", "NAME", "the data set, which can be given without --name",
                 [](auto& o) -> auto& { return o.data.name; }),
             path(
                 "from", "DIR", "a folder that has its archive; without it from its public address",
                 [](auto& o) -> auto& { return o.data.from; }),
             output_path("DIR", "directory that it is unpacked to; without it one of its name, here")});
}

/// A path that may be given more than once. `field` gives the vector of (const or changeable) Options.
template <typename Field>
OptionEntry paths(std::string name, std::string placeholder, std::string description, Field field) {
  OptionEntry entry;
  entry.name = std::move(name);
  entry.placeholder = std::move(placeholder);
  entry.description = std::move(description);
  entry.expected = "a path";
  entry.shows_default = false;
  entry.set = [=](Options& options, const std::string& text) {
    field(options).push_back(text);
    return !text.empty();
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", fmt::join(field(options), ",")); };
  return entry;
}

void add_score(Table& table) {
  using datasets::BleuTokens;
  table.add(
      "Score", command_score, false,
      {one_of("metric", "what is measured", [](auto& o) -> auto& { return o.score.metric; }, {"bleu"}),
       choice<BleuTokens>("tokenize",
                          "how lines are cut, as sacreBLEU does; the last: as for the papers' translation scores",
                          [](auto& o) -> auto& { return o.score.bleu.tokens; },
                          {{"13a", BleuTokens::v13a},
                           {"intl", BleuTokens::international},
                           {"none", BleuTokens::none},
                           {"tokenised-split", BleuTokens::tokenised_split}}),
       flag(
           "lowercase", "upper and lower case are the same", [](auto& o) -> auto& { return o.score.bleu.lower_cased; }),
       paths(
           "reference", "FILE", "the right lines; more than once where there are several translations",
           [](auto& o) -> auto& { return o.score.references; })});
}

void add_report(Table& table) {
  table.add("Report", command_report, false,
            {paths(
                 "run-dir", "DIR", "directory of a run; or without the option's name; more than one are compared",
                 [](auto& o) -> auto& { return o.report.runs; }),
             without_default(path(
                 "out", "FILE", "file that is written; without it, report.html in the first run's directory",
                 [](auto& o) -> auto& { return o.report.out; })),
             paths(
                 "scaling", "FILE", "table that cluster/scaling.sh wrote (scaling.csv); more than one can be given",
                 [](auto& o) -> auto& { return o.report.scaling; }),
             without_default(one_of(
                 "svg", "one picture alone, as SVG", [](auto& o) -> auto& { return o.report.svg; }, picture_names())),
             without_default(one_of(
                 "png", "one picture alone, as PNG (by rsvg-convert)", [](auto& o) -> auto& { return o.report.png; },
                 picture_names())),
             whole(
                 "examples", "examples that the trained model is shown at work on",
                 [](auto& o) -> auto& { return o.report.examples; }, 1, 100),
             whole(
                 "first-example", "number in the split of the first of them",
                 [](auto& o) -> auto& { return o.report.first_example; }, 0),
             whole(
                 "example-rows", "examples with more positions, in source or target, are passed over",
                 [](auto& o) -> auto& { return o.report.example_rows; }, 1, 1000),
             flag(
                 "no-model", "curves alone, without attention and ponder times of examples",
                 [](auto& o) -> auto& { return o.report.no_model; })});
}

std::vector<OptionEntry> make_table() {
  Table table;
  add_task(table);
  add_parallel_text(table);
  add_model_shape(table);
  add_model_choices(table);
  add_halting(table);
  add_dropout(table);
  add_training(table);
  add_evaluation(table);
  add_bench(table);
  add_plan(table);
  add_ranks(table);
  add_memory(table);
  add_stories(table);
  add_sentencepiece(table);
  add_fetch(table);
  add_score(table);
  add_model_files(table);
  add_report(table);
  add_run(table);
  return std::move(table).entries();
}

}  // namespace

const std::vector<OptionEntry>& option_table() {
  static const std::vector<OptionEntry> table = make_table();
  return table;
}

}  // namespace ut::launcher
