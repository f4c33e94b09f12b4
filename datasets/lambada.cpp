#include "datasets/lambada.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& training_names() {
  static const std::vector<std::string> names = {"train-novels", "train", "novels-lambada-style", "train.txt"};
  return names;
}

fs::path find_training(const fs::path& directory) {
  for (const std::string& name : training_names())
    if (fs::exists(directory / name)) return directory / name;
  throw base::BadInput(fmt::format("--data {}: no training text; it needs one of {}, passages one a line",
                                   directory.string(), fmt::join(training_names(), ", ")));
}

std::vector<fs::path> text_files(const fs::path& training) {
  if (!fs::is_directory(training)) return {training};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(training))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  if (files.empty())
    throw base::BadInput(fmt::format("{}: no .txt files, which the training text is read from", training.string()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Lambada::Lambada(const TaskOptions& options) {
  check_range("--vocabulary-size", options.vocabulary_size, 1, 1 << 24);
  const fs::path directory = data_directory(options.data, "LAMBADA files");
  directory_ = directory.string();
  read_passages(Split::validation, directory / "lambada_development_plain_text.txt");
  read_passages(Split::test, directory / "lambada_test_plain_text.txt");
  const fs::path training = find_training(directory);
  training_ = training.filename().string();
  for (const fs::path& file : text_files(training)) read_passages(Split::train, file);
  number_words(options.vocabulary_size, directory_);
}

void Lambada::read_passages(Split split, const fs::path& file) {
  const std::string content = base::read_file(file);
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    std::vector<std::string_view> words = split_at_spaces(line);
    if (words.size() < 2)
      throw base::BadInput(fmt::format("{}:{}: {} words; a passage is two at least, of which the last is asked for",
                                       file.string(), number, words.size()));
    const std::string_view answer = words.back();
    words.pop_back();
    add(split, words, answer, std::ranges::count(words, answer) > 0 ? 0 : 1);
  });
}

std::string Lambada::description() const {
  return fmt::format(
      "lambada: {}: {} training passages ({}), {} validation and {} test passages, of which {} and {} end with a word "
      "outside the vocabulary, {} symbols",
      directory_, size(Split::train), training_, size(Split::validation), size(Split::test),
      unanswerable(Split::validation), unanswerable(Split::test), vocabulary().size());
}

std::vector<std::string> Lambada::groups() const { return {"target in context", "target not in context"}; }

}  // namespace ut::datasets
