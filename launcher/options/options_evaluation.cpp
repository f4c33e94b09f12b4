#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"
#include "launcher/options/picture_names.h"

namespace ut::launcher::option_groups {
namespace {

OptionEntry decode_extra() {
  auto entry = without_default(whole(
      "decode-extra",
      "outputs are at most so many symbols longer than their source with its end mark; without it as the task has "
      "them: generated ones end with the right output's end mark or, where nobody knows it, the task's longest; "
      "translations 50 longer than the source",
      [](auto& o) -> auto& { return o.decode_extra; }, 0, 1 << 20));
  entry.get = [get = entry.get](const Options& options) { return options.decode_extra < 0 ? "" : get(options); };
  return entry;
}

}  // namespace

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
  table.add("Evaluation", command_train, true,
            {changeable(whole(
                "evaluation-limit", "examples that a validation scores, from all over the split; 0: all",
                [](auto& o) -> auto& { return o.evaluation_limit; }, 0))});
  table.add("Evaluation", command_evaluate, false,
            {whole(
                "evaluation-limit", "examples that are scored, from all over the split; 0: all",
                [](auto& o) -> auto& { return o.evaluation_limit; }, 0)});
  table.add("Evaluation", command_evaluate, false,
            {flag(
                 "json", "print the scores as one JSON object", [](auto& o) -> auto& { return o.json; }),
             flag(
                 "teacher-forced", "score each symbol after the right ones, instead of the model's own (greedy)",
                 [](auto& o) -> auto& { return o.teacher_forced; }),
             without_default(path(
                 "outputs", "FILE", "where each example is written with what was made of it, a JSON object a line",
                 [](auto& o) -> auto& { return o.outputs; }))});
  table.add("Evaluation", command_decode, false,
            {flag(
                "json", "print a JSON object for each line, which has what the output's probability is, too",
                [](auto& o) -> auto& { return o.json; })});
}

void add_score(Table& table) {
  using datasets::BleuTokens;
  table.add(
      "Score", command_score, false,
      {choice<BleuTokens>("tokenize",
                          "how lines are cut, as sacreBLEU does; the last: as for the papers' translation scores",
                          [](auto& o) -> auto& { return o.score.bleu.tokens; },
                          {{"13a", BleuTokens::v13a},
                           {"intl", BleuTokens::international},
                           {"none", BleuTokens::none},
                           {"tokenised-split", BleuTokens::tokenised_split}}),
       flag(
           "lowercase", "upper and lower case are the same", [](auto& o) -> auto& { return o.score.bleu.lower_cased; }),
       flag(
           "json", "print the score as one JSON object", [](auto& o) -> auto& { return o.json; }),
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
                 "out", "FILE",
                 "file that is written; without it, in the first run's directory, report.html or the picture by its "
                 "name, as attention.svg",
                 [](auto& o) -> auto& { return o.report.out; })),
             paths(
                 "scaling", "FILE", "table that cluster/scaling.sh wrote (scaling.csv); more than one can be given",
                 [](auto& o) -> auto& { return o.report.scaling; }),
             without_default(one_of(
                 "svg", "one picture alone, as SVG", [](auto& o) -> auto& { return o.report.svg; }, picture_names())),
             without_default(one_of(
                 "png", "one picture alone, as PNG (by rsvg-convert)", [](auto& o) -> auto& { return o.report.png; },
                 picture_names())),
             without_default(one_of("stack",
                                    "in such a picture, ponder times of this stack, instead of the first that has any",
                                    [](auto& o) -> auto& { return o.report.stack; }, {"encoder", "decoder"})),
             none_if_zero(whole(
                 "step", "in such a picture, attention in this step, instead of all",
                 [](auto& o) -> auto& { return o.report.step; }, 1)),
             none_if_zero(whole(
                 "layer", "in such a picture, attention in this layer of the block, instead of the first",
                 [](auto& o) -> auto& { return o.report.layer; }, 1)),
             none_if_zero(whole(
                 "head", "in such a picture, attention of this head, instead of all",
                 [](auto& o) -> auto& { return o.report.head; }, 1)),
             whole(
                 "examples", "examples that the trained model is shown at work on",
                 [](auto& o) -> auto& { return o.report.examples; }, 1, 100),
             whole(
                 "first-example", "number in the split of the first of them, which a picture alone shows",
                 [](auto& o) -> auto& { return o.report.first_example; }, 0),
             whole(
                 "example-rows", "examples with more positions, in source or target, are passed over",
                 [](auto& o) -> auto& { return o.report.example_rows; }, 1, 1000),
             flag(
                 "no-model", "curves alone, without attention and ponder times of examples",
                 [](auto& o) -> auto& { return o.report.no_model; })});
}

}  // namespace ut::launcher::option_groups
