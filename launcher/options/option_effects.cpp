#include "launcher/options/option_effects.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "datasets/make_task.h"
#include "datasets/task_options.h"
#include "launcher/options/option_table.h"
#include "launcher/options/picture_names.h"

namespace ut::launcher {
namespace {

using OptionNames = std::vector<std::string_view>;

/// Options that do something only if `useful` holds. `needed` says that condition as a person would write it.
struct Effect {
  OptionNames options;
  bool (*useful)(const Options&);
  std::string_view needed;
  std::string_view unless = {};  // if this option is given too, it takes their place: no error
};

bool is_universal(const Options& options) { return options.model.kind == core::ModelKind::universal; }
bool uses_beam_search(const Options& options) { return options.beam > 1 && !options.teacher_forced; }

bool is_language_model(const Options& options) {
  const datasets::TaskOptions& task = options.task;
  return (task.task == "agreement" && task.agreement_form == datasets::AgreementForm::language_model) ||
         (task.task == "lambada" && task.lambada_form == datasets::LambadaForm::language_model);
}
bool points_at_words(const Options& options) {
  return options.task.task == "lambada" && options.task.lambada_form == datasets::LambadaForm::pointing;
}
bool answers_with_one_symbol(const Options& options) {
  const std::string& task = options.task.task;
  return !is_language_model(options) && (task == "babi" || task == "agreement" || task == "lambada");
}
bool task_has_decoder(const Options& options) {
  return !answers_with_one_symbol(options) && !options.bench.encoder_only;
}
bool task_has_encoder(const Options& options) { return !is_language_model(options) && !options.bench.decoder_only; }
bool decodes(const Options& options) {
  const bool goes_on = options.command == "decode" && options.decode_extra >= 0;
  return task_has_decoder(options) && (goes_on || !is_language_model(options));
}

/// Whether `holds` is true for the halting of one of the stacks that there are.
bool any_stack(const Options& options, const std::function<bool(core::Halting)>& holds) {
  const core::HaltingOptions& halting = options.model.halting;
  return (task_has_encoder(options) && holds(halting.encoder)) || (task_has_decoder(options) && holds(halting.decoder));
}
bool halts(const Options& options) {
  return any_stack(options, [](core::Halting halting) { return halting != core::Halting::none; });
}
bool halted_rows_leave(const Options& options) {
  return any_stack(options, [](core::Halting halting) { return halting == core::Halting::act_copy; });
}
/// Whether --steps and --decoder-steps say how long the stack runs.
bool runs_all_steps(const Options& options, core::Halting halting) {
  return halting == core::Halting::none || options.max_steps == 0;
}
bool any_runs_all_steps(const Options& options) {
  return any_stack(options, [&](core::Halting halting) { return runs_all_steps(options, halting); });
}

/// Whether the task's name begins with one of these. Without a task, as for `ut bench`, no option of tasks applies.
bool task_begins_with(const Options& options, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view name) { return options.task.task.starts_with(name); });
}
bool learns_digits(const Options& options) {
  const std::string& task = options.task.task;
  return task == "copy" || task == "reverse" || task == "addition";
}

bool shows_models(const Options& options) {
  const ReportOptions& report = options.report;
  return !report.no_model && (report.picture().empty() || shows_model(report.picture()));
}

bool draws_attention(const Options& options) { return options.report.picture().starts_with("attention"); }
bool draws_one_stack(const Options& options) {
  const std::string& picture = options.report.picture();
  return picture == "ponder-histogram" || picture == "running" || picture == "ponder-words";
}

/// Options on the steps that positions take.
std::vector<Effect> of_halting() {
  return {
      {{"max-steps", "act-kind", "act-output", "halting-threshold", "ponder-weight", "ponder-warmup"},
       halts,
       "--halting act or act-copy"},
      {{"halting-bias"},
       [](const Options& o) { return halts(o) && o.model.halting.kind != core::ActKind::random; },
       "--halting act or act-copy, and an --act-kind with a halting unit, which random lacks"},
      {{"balance"}, halted_rows_leave, "--halting act-copy"},
      {{"decoder-halting", "decoder-steps"},
       task_has_decoder,
       "a decoder; a task whose answers are single symbols has none"},
      {{"steps"},
       [](const Options& o) { return any_runs_all_steps(o) || o.model.encoder_steps == o.max_steps; },
       "--max-steps 0, or positions that do not halt",
       "max-steps"},
      {{"steps"},
       [](const Options& o) { return task_has_encoder(o) || o.model.encoder_steps == o.model.decoder_steps; },
       "an encoder; a language model has only a decoder (--decoder-steps)"},
      {{"halting"},
       [](const Options& o) { return task_has_encoder(o) || o.model.halting.encoder == o.model.halting.decoder; },
       "an encoder; a language model has only a decoder (--decoder-halting)"},
      {{"decoder-steps"},
       [](const Options& o) {
         return runs_all_steps(o, o.model.halting.decoder) || o.model.decoder_steps == o.max_steps;
       },
       "--max-steps 0, or a decoder whose positions do not halt",
       "max-steps"},
  };
}

/// Options of evaluation and decoding.
std::vector<Effect> of_scoring() {
  return {
      {{"teacher-forced", "beam", "length-penalty", "decode-extra"},
       decodes,
       "a task with outputs to decode or, in ut decode, a language model and --decode-extra"},
      {{"evaluation-scoring"},
       [](const Options& o) { return decodes(o) || o.evaluation_scoring == Scoring::teacher_forced; },
       "a task with outputs to decode"},
      {{"best-by"},
       [](const Options& o) {
         return o.best_by != BestBy::bleu || (o.task.task == "translation" && o.evaluation_scoring == Scoring::decoded);
       },
       "--task translation and --evaluation-scoring decoded"},
      {{"best-by"},
       [](const Options& o) {
         return !is_language_model(o) || !o.task.lambada_scores_all_words || o.best_by == BestBy::automatic;
       },
       "a task that is judged by a score; a language model of all words is judged by its loss"},
      {{"checkpoint"}, [](const Options& o) { return o.command != "train" || o.resume; }, "--resume"},
      {{"beam"}, [](const Options& o) { return !o.teacher_forced; }, "decoding, which --teacher-forced does not do"},
      {{"length-penalty"}, uses_beam_search, "--beam above 1"},
      {{"evaluation-batch"}, [](const Options& o) { return !o.line_by_line; }, "decoding without --line-by-line"},
  };
}

/// Options of updates.
std::vector<Effect> of_training() {
  return {
      {{"batch"}, [](const Options& o) { return o.batch_rows == 0; }, "--batch-rows 0"},
      {{"weight-decay-of"}, [](const Options& o) { return o.optimizer.weight_decay > 0; }, "--weight-decay above 0"},
      {{"batch-window"}, [](const Options& o) { return o.batch_rows > 0; }, "--batch-rows"},
      {{"target-score"},
       [](const Options& o) { return o.target_score == 0 || o.evaluate_every > 0; },
       "--evaluate-every above 0"},
      {{"patience"},
       [](const Options& o) { return o.patience == 0 || o.evaluate_every > 0; },
       "--evaluate-every above 0"},
      {{"nonfinite-limit"},
       [](const Options& o) { return o.on_nonfinite == OnNonFinite::skip; },
       "--on-nonfinite skip"},
      {{"keep-every"},
       [](const Options& o) { return o.keep_every == 0 || o.checkpoint_every > 0; },
       "--checkpoint-every above 0"},
      {{"label-smoothing"},
       [](const Options& o) { return o.label_smoothing == 0 || !points_at_words(o); },
       "another --lambada-form than pointing"},
      {{"recompute"}, [](const Options& o) { return !o.bench.decode; }, "an update, which --greedy does not make"},
  };
}

/// Options of models and of where they run.
std::vector<Effect> of_models_and_ranks() {
  return {
      {{"hostfile"},
       [](const Options& o) { return o.command != "plan" || (o.plan.machine.empty() && o.plan.calibration.empty()); },
       "numbers measured on the hosts, not those of --machine or --calibration"},
      {{"bench-skew"}, [](const Options& o) { return o.bench.ponder > 0; }, "--bench-ponder"},
      {{"lstm-layers"}, [](const Options& o) { return !is_universal(o); }, "--model lstm"},
      {{"heads", "ffn", "steps", "decoder-steps", "block-layers", "variant", "transition", "norm", "residual", "signal",
        "step-signal", "attention-dropout", "transition-dropout", "random-offset", "exchange", "exchange-sends",
        "shards"},
       is_universal,
       "--model universal"},
      {{"exchange-sends", "shards"}, [](const Options& o) { return !o.plan_exchange; }, "another --exchange than auto"},
      {{"share-gpus"}, [](const Options& o) { return o.device != DeviceChoice::cpu; }, "another --device than cpu"},
  };
}

/// Options of data.
std::vector<Effect> of_tasks() {
  return {
      {{"babi-task", "babi-size", "babi-memory"},
       [](const Options& o) { return task_begins_with(o, {"babi"}); },
       "--task babi"},
      {{"agreement-form", "agreement-train-share"},
       [](const Options& o) { return task_begins_with(o, {"agreement"}); },
       "--task agreement"},
      {{"lambada-scored"},
       [](const Options& o) { return o.task.task == "lambada" && is_language_model(o); },
       "--task lambada and --lambada-form language-model"},
      {{"lambada-form", "lambada-context", "lambada-longest", "lambada-common", "lambada-names", "vocabulary-size"},
       [](const Options& o) { return task_begins_with(o, {"lambada"}); },
       "--task lambada"},
      {{"lambada-context"},
       [](const Options& o) { return o.task.lambada_context == 0 || !is_language_model(o); },
       "another --lambada-form than language-model"},
      {{"lambada-names"},
       [](const Options& o) { return o.task.lambada_names == 0 || points_at_words(o); },
       "--lambada-form pointing"},
      {{"lambada-longest"}, [](const Options& o) { return o.task.lambada_context == 0; }, "--lambada-context 0"},
      {{"lambada-common"}, [](const Options& o) { return o.task.lambada_context > 0; }, "--lambada-context above 0"},
      {{"source-language", "target-language", "train-set", "validation-set", "test-set", "sentencepiece",
        "longest-pair"},
       [](const Options& o) { return task_begins_with(o, {"translation"}); },
       "--task translation"},
      {{"train-length", "evaluation-length"}, learns_digits, "--task copy, reverse or addition"},
      {{"execute-nesting"},
       [](const Options& o) {
         return !task_begins_with(o, {"execute-copy", "execute-double", "execute-reverse"});
       },
       "--task execute-program, execute-control or execute-addition"},
      {{"execute-length", "execute-nesting"},
       [](const Options& o) { return task_begins_with(o, {"execute-"}); },
       "a --task execute-…"},
      {{"execute-source"},
       [](const Options& o) { return task_begins_with(o, {"execute-program"}); },
       "--task execute-program"},
      {{"train-examples", "evaluation-examples", "data-seed"},
       [](const Options& o) { return learns_digits(o) || task_begins_with(o, {"execute-"}); },
       "a task whose examples are generated"},
      {{"evaluation-examples", "evaluation-length"},
       [](const Options& o) { return o.command != "evaluate" || o.split != datasets::Split::train; },
       "--split validation or test"},
      {{"validation-set"},
       [](const Options& o) { return o.command != "evaluate" || o.split == datasets::Split::validation; },
       "--split validation"},
      {{"test-set"},
       [](const Options& o) { return o.command != "evaluate" || o.split == datasets::Split::test; },
       "--split test"},
      {{"data"},
       [](const Options& o) {
         return o.command == "report" || std::ranges::count(datasets::file_task_names(), o.task.task) > 0;
       },
       "a task that reads files"},
  };
}

/// Options of ut report.
std::vector<Effect> of_reports() {
  return {
      {{"split", "checkpoint", "data", "examples", "first-example", "example-rows"},
       shows_models,
       "a model at work, which neither --no-model nor a picture of what was recorded shows"},
      {{"examples"},
       [](const Options& o) { return o.report.picture().empty(); },
       "the page; a picture shows one example"},
      {{"stack"}, draws_one_stack, "--svg or --png ponder-histogram, running or ponder-words"},
      {{"step", "layer", "head"}, draws_attention, "--svg or --png attention, attention-decoder or attention-source"},
  };
}

const std::vector<Effect>& effects() {
  static const std::vector<Effect> all = [] {
    std::vector<Effect> together;
    for (const auto& part :
         {of_halting(), of_scoring(), of_training(), of_models_and_ranks(), of_tasks(), of_reports()})
      together.insert(together.end(), part.begin(), part.end());
    return together;
  }();
  return all;
}

/// Whether the option is given as 0 and is 0 by default: whoever asks for none and gets none is not misled.
bool says_none(const std::string& name, const Options& options) {
  return std::ranges::all_of(option_table(), [&](const OptionEntry& entry) {  // of each command that has it
    return entry.name != name || (entry.get(options) == "0" && entry.get(Options()) == "0");
  });
}

}  // namespace

void check_effects(const Options& options, const std::vector<std::string>& given) {
  const auto is_given = [&given](std::string_view name) { return std::ranges::count(given, name) > 0; };
  for (const Effect& effect : effects())
    for (const std::string& name : given)
      if (std::ranges::count(effect.options, name) > 0 && !effect.useful(options) && !says_none(name, options) &&
          !is_given(effect.unless))
        throw base::BadInput("--{}: does nothing here, needs {}; give that, or leave it out", name, effect.needed);
  if (is_given("checkpoint") && is_given("average"))
    throw base::BadInput("--checkpoint: given, and --average too, which takes the newest; give one of the two");
  if (is_given("dtype") && is_given("precision") && !options.model.bfloat16_products)
    throw base::BadInput("--precision: given, and --dtype too, which says the same; give one of the two");
}

}  // namespace ut::launcher
