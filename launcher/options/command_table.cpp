#include "launcher/options/command_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "launcher/options/nearest_name.h"
#include "launcher/options/option_table.h"

namespace ut::launcher {

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> table = {
      {"train", command_train, "ut train --task NAME --run-dir DIR [options]",
       "train a model, or continue its training"},
      {"evaluate", command_evaluate, "ut evaluate --run-dir DIR [options]", "score a trained model"},
      {"decode", command_decode, "ut decode --run-dir DIR [options] < input > output",
       "run a trained model on lines of standard input"},
      {"export", command_export, "ut export --run-dir DIR --out DIR [options]",
       "write a trained model for other programs: safetensors and JSON"},
      {"import", command_import, "ut import --from DIR --run-dir DIR [options]",
       "turn a model that ut export wrote into a run, to evaluate, decode or train further"},
      {"score", command_score, "ut score --reference FILE [options] < lines", "score text against references: BLEU"},
      {"bench", command_bench, "ut bench [options]",
       "measure speed, memory and traffic of training on made-up symbols"},
      {"plan", command_plan, "ut plan [options]",
       "predict time, memory and efficiency of training on a cluster, and choose how ranks share the work"},
      {"doctor", command_doctor, "ut doctor [--ranks N] [--run-dir DIR]",
       "check whether this machine or cluster can run ut"},
      {"data stories", command_data_stories, "ut data stories --out DIR [options]",
       "make stories with questions, in bAbI's format"},
      {"data sentencepiece", command_data_sentencepiece, "ut data sentencepiece --data DIR [options]",
       "train the SentencePiece vocabulary for translation"},
      {"data check", command_data_check, "ut data check DIR [options]",
       "describe a data set and say what is wrong with it", "data"},
      {"data fetch", command_data_fetch, "ut data fetch NAME [options]",
       "fetch a published data set from its address or a folder", "name"},
      {"report", command_report, "ut report RUN_DIR... [options]",
       "make an HTML page with the curves, ponder times and attention of runs", "run-dir", true}};
  return table;
}

const CommandEntry& find_command(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  throw base::BadInput("unknown command \"{}\"{} (commands: {}; see ut --help)", name,
                       suggestion(std::string(name), names, ""), fmt::join(names, ", "));
}

bool starts_from_record(const CommandEntry& command) {
  return command.bit == command_evaluate || command.bit == command_decode || command.bit == command_export;
}

std::vector<std::string> names_below(const std::string& group) {
  std::vector<std::string> names;
  for (const auto& command : commands())
    if (command.name.starts_with(group + " ")) names.push_back(command.name.substr(group.size() + 1));
  return names;
}

}  // namespace ut::launcher
