#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"
#include "launcher/options/picture_names.h"

namespace ut::launcher::option_groups {
namespace {

using datasets::BleuOptions;

OptionEntry decode_extra() {
  auto entry = without_default(
      whole("decode-extra",
            "outputs may be at most N symbols longer than their source with its end mark; default: translations 50, "
            "generated tasks as long as the right output or, if that is unknown, the task's longest; ut decode with a "
            "language model: words to write after those given (without this option: one)",
            &Options::decode_extra, 0, 1 << 20));
  entry.get = [get = entry.get](const Options& options) { return options.decode_extra < 0 ? "" : get(options); };
  return entry;
}

}  // namespace

void add_evaluation(Table& table) {
  table.add("Evaluation", command_evaluate | command_report, false,
            {choice("split", "examples to score, or to show in a report", &Options::split,
                    {{"test", datasets::Split::test},
                     {"validation", datasets::Split::validation},
                     {"train", datasets::Split::train},
                     {"control", datasets::Split::control}})});
  table.add("Evaluation", command_evaluate | command_decode | command_export | command_report, false,
            {checkpoint("which checkpoint of the run: latest, best or update-N", &Options::checkpoint)});
  table.add("Evaluation", command_evaluate | command_decode | command_export, false,
            {without_default(whole("average", "instead of one checkpoint: the mean of the parameters of the newest N",
                                   &Options::average, 1, 1 << 20))});
  table.add("Evaluation", command_evaluate | command_decode, false,
            {whole("beam", "width of the beam search; 1: greedy", &Options::beam, 1, 1 << 16),
             not_negative("length-penalty", "with a beam: A in ((5 + length) / 6)^A, by which scores are divided",
                          &Options::length_penalty),
             decode_extra()});
  table.add("Evaluation", run_commands, true,
            {may_change_on_resume(whole("evaluation-batch", "sequences evaluated at once, over all ranks",
                                        &Options::evaluation_batch, 1))});
  table.add("Evaluation", command_train, true,
            {may_change_on_resume(whole("evaluation-limit",
                                        "examples that a validation scores, spread over the split; 0: all",
                                        &Options::evaluation_limit, 0))});
  table.add(
      "Evaluation", command_evaluate, false,
      {whole("evaluation-limit", "examples to score, spread over the split; 0: all", &Options::evaluation_limit, 0)});
  table.add(
      "Evaluation", command_evaluate, false,
      {flag("json", "print the scores as one JSON object", &Options::json),
       flag("teacher-forced", "score each symbol given the right ones before it, not the model's own",
            &Options::teacher_forced),
       without_default(path("outputs", "FILE", "where to write each example with its output, a JSON object per line",
                            &Options::outputs))});
  table.add("Evaluation", command_decode, false,
            {flag("json", "print a JSON object for each line, with the output's probability", &Options::json),
             flag("line-by-line", "decode each line as soon as it is there, before the next is read",
                  &Options::line_by_line)});
}

void add_score(Table& table) {
  using datasets::BleuTokens;
  table.add(
      "Score", command_score, false,
      {choice("tokenize", "tokenisation, named as by sacreBLEU; tokenised-split: as for the papers' translation scores",
              in(&Options::score, &ScoreOptions::bleu, &BleuOptions::tokens),
              {{"13a", BleuTokens::v13a},
               {"intl", BleuTokens::international},
               {"none", BleuTokens::none},
               {"tokenised-split", BleuTokens::tokenised_split}}),
       flag("lowercase", "ignore case", in(&Options::score, &ScoreOptions::bleu, &BleuOptions::lower_cased)),
       flag("json", "print the score as one JSON object", &Options::json),
       paths("reference", "FILE", "the right lines; give it once for each reference translation",
             in(&Options::score, &ScoreOptions::references))});
}

void add_report(Table& table) {
  table.add(
      "Report", command_report, false,
      {paths("run-dir", "DIR", "directory of a run (--run-dir may be left out); several are compared",
             in(&Options::report, &ReportOptions::runs)),
       without_default(
           path("out", "FILE",
                "file to write; default: report.html, or the picture's name such as attention.svg, in the first run's "
                "directory",
                in(&Options::report, &ReportOptions::out))),
       paths("scaling", "FILE", "table that cluster/scaling.sh wrote (scaling.csv); can be given several times",
             in(&Options::report, &ReportOptions::scaling)),
       without_default(
           one_of("svg", "one picture alone, as SVG", in(&Options::report, &ReportOptions::svg), picture_names())),
       without_default(one_of("png", "one picture alone, as PNG (by rsvg-convert)",
                              in(&Options::report, &ReportOptions::png), picture_names())),
       without_default(one_of("stack", "in such a picture: ponder times of this stack; default: the first that has any",
                              in(&Options::report, &ReportOptions::stack), {"encoder", "decoder"})),
       none_if_zero(whole("step", "in such a picture: attention in this step; default: all",
                          in(&Options::report, &ReportOptions::step), 1)),
       none_if_zero(whole("layer", "in such a picture: attention in this layer of the block; default: the first",
                          in(&Options::report, &ReportOptions::layer), 1)),
       none_if_zero(whole("head", "in such a picture: attention of this head; default: all",
                          in(&Options::report, &ReportOptions::head), 1)),
       whole("examples", "number of examples to show the trained model at work on",
             in(&Options::report, &ReportOptions::examples), 1, 100),
       whole("first-example", "number, in the split, of the first such example; a single picture shows this one",
             in(&Options::report, &ReportOptions::first_example), 0),
       whole("example-rows", "skip examples with more positions than this in source or target",
             in(&Options::report, &ReportOptions::example_rows), 1, 1000),
       flag("no-model", "only what training and ut evaluate recorded, no attention and ponder times of examples",
            in(&Options::report, &ReportOptions::no_model))});
}

}  // namespace ut::launcher::option_groups
