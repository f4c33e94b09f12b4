#include "launcher/score.h"

#include <fmt/format.h>

#include <iostream>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "datasets/bleu.h"

namespace ut::launcher {
namespace {

std::vector<std::string> lines_of(std::istream& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  if (!lines.empty()) lines.front() = base::without_byte_order_mark(lines.front());
  return lines;
}

}  // namespace

int run_score(const Options& options) {
  const ScoreOptions& given = options.score;
  std::vector<std::vector<std::string>> references;
  for (const std::string& file : given.references) {
    std::istringstream text(base::read_file(file));
    references.push_back(lines_of(text));
  }
  const std::vector<std::string> lines = lines_of(std::cin);
  for (std::size_t index = 0; index < references.size(); ++index)
    if (references[index].size() != lines.size())
      throw base::BadInput(fmt::format("{}: {} lines, but standard input has {}; needs a line for each",
                                       given.references[index], references[index].size(), lines.size()));
  const datasets::Bleu bleu = datasets::corpus_bleu(lines, references, given.bleu);
  fmt::print("BLEU|{} = {}\n", datasets::bleu_signature(references.size(), given.bleu), datasets::describe(bleu));
  return 0;
}

}  // namespace ut::launcher
