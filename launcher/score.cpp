#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "datasets/bleu.h"
#include "datasets/lines.h"
#include "launcher/commands.h"
#include "launcher/process/say.h"
#include "launcher/process/standard_input.h"

namespace ut::launcher {

int score_lines(const Options& options) {
  const ScoreOptions& given = options.score;
  std::vector<std::vector<std::string>> references;
  for (const std::string& file : given.references)
    references.push_back(
        datasets::raw_lines(base::read_file(file, "--reference", "the right line for each line of standard input")));
  const std::vector<std::string> lines = datasets::raw_lines(read_standard_input());
  if (lines.empty()) throw base::BadInput("standard input: no lines, needs the lines to score");
  for (std::size_t index = 0; index < references.size(); ++index)
    if (references[index].size() != lines.size())
      throw base::BadInput("{}: {} lines, but standard input has {}; needs a line for each", given.references[index],
                           references[index].size(), lines.size());
  const datasets::Bleu bleu = datasets::corpus_bleu(lines, references, given.bleu);
  const std::string signature = datasets::bleu_signature(references.size(), given.bleu);
  if (options.json)
    print(fmt::format("{}\n", nlohmann::ordered_json{{"bleu", bleu.score},
                                                     {"bleu_signature", signature},
                                                     {"precisions", bleu.precisions},
                                                     {"brevity_penalty", bleu.brevity_penalty},
                                                     {"tokens", bleu.counts.length},
                                                     {"reference_tokens", bleu.counts.reference_length}}
                                  .dump()));
  else
    print(fmt::format("BLEU|{} = {}\n", signature, datasets::describe(bleu)));
  return 0;
}

}  // namespace ut::launcher
