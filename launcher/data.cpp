#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/counted.h"
#include "base/file.h"
#include "base/json.h"
#include "base/shell_word.h"
#include "datasets/data_check.h"
#include "datasets/stories.h"
#include "datasets/subwords.h"
#include "datasets/task_options.h"
#include "launcher/commands.h"
#include "launcher/options/output_file.h"
#include "launcher/process/say.h"

namespace ut::launcher {
namespace {

using datasets::questions_per_story;

std::int64_t stories_for(std::int64_t questions) { return (questions + questions_per_story - 1) / questions_per_story; }

std::string json_line(const datasets::DataCheck& found, const datasets::TaskOptions& checked) {
  nlohmann::ordered_json line{{"task", checked.task},
                              {"data", checked.data},
                              {"description", found.description},
                              {"warnings", found.warnings},
                              {"errors", found.errors}};
  if (found.errors.empty()) line["options"] = found.options;
  return base::json_line(line) + "\n";
}

std::string lines(const datasets::DataCheck& found, const datasets::TaskOptions& checked, bool quiet) {
  std::string text;
  if (!quiet)
    for (const std::string& line : found.description) text += line + "\n";
  for (const std::string& warning : found.warnings) text += fmt::format("warning: {}\n", warning);
  for (const std::string& error : found.errors) text += fmt::format("wrong: {}\n", error);
  if (found.errors.empty()) text += fmt::format("{}: can be trained on with: {}\n", checked.data, found.options);
  return text;
}

}  // namespace

int data_stories(const Options& options) {
  const DataOptions& given = options.data;
  datasets::StoryOptions stories;
  stories.facts = static_cast<int>(given.facts);
  stories.train = stories_for(given.train);
  stories.validation = stories_for(given.validation);
  stories.test = stories_for(given.test);
  stories.seed = options.seed;
  stories.out = given.out;
  datasets::write_stories(stories);
  if (options.quiet) return 0;
  const auto questions = [](std::int64_t count) { return count * questions_per_story; };
  print(fmt::format("{}: stories that need {}, questions: {} train, {} validation, {} test\n", given.out,
                    base::counted(given.facts, "fact"), questions(stories.train), questions(stories.validation),
                    questions(stories.test)));
  print(fmt::format("train on them: ut train --task babi --babi-task {} --data {} --run-dir DIR\n", given.facts,
                    base::shell_word(given.out)));
  return 0;
}

int data_sentencepiece(const Options& options) {
  const auto beside_data = std::filesystem::path(options.task.data) / datasets::subword_model_name;
  const std::string file = options.data.out.empty() ? beside_data.string() : options.data.out;
  check_output_file("--out", file, "\n\x0e\n\x05<pad>");  // before the training, which takes time
  const std::string model = datasets::train_subwords(options.task, options.data.pieces);
  const datasets::Subwords subwords(model, file);
  base::write_file_whole(file, model);
  if (!options.quiet)
    print(fmt::format("{}: SentencePiece model, {}, {} symbols\n", file, options.data.pieces.kind,
                      subwords.vocabulary().size()));
  return 0;
}

int data_check(const Options& options) {
  std::vector<std::string> tasks = {options.task.task};
  if (options.task.task.empty()) tasks = datasets::tasks_of_files(options.task);
  bool is_refused = false;
  for (const std::string& task : tasks) {
    datasets::TaskOptions checked = options.task;
    checked.task = task;
    const datasets::DataCheck found = datasets::check_data(checked);
    print(options.json ? json_line(found, checked) : lines(found, checked, options.quiet));
    is_refused = is_refused || !found.errors.empty();
  }
  return is_refused ? 2 : 0;
}

}  // namespace ut::launcher
