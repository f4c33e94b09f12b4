#include "datasets/lambada.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/file.h"
#include "datasets/lines.h"
#include "datasets/task_options.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& training_names() {
  static const std::vector<std::string> names = {"train-novels", "train", "novels-lambada-style", "train.txt"};
  return names;
}

constexpr const char* development_name = "lambada_development_plain_text.txt";
constexpr const char* test_name = "lambada_test_plain_text.txt";

void check_is_there(const fs::path& directory, const char* name) {
  if (!base::path_exists_checked(directory / name))
    throw base::BadInput("{}: no such file; --data needs a directory with {}, {} and a training text",
                         (directory / name).string(), development_name, test_name);
}

fs::path find_training(const fs::path& directory) {
  for (const std::string& name : training_names())
    if (base::path_exists(directory / name)) return directory / name;
  throw base::BadInput("--data {}: no training text; needs one of {}, with a passage on each line", directory.string(),
                       fmt::join(training_names(), ", "));
}

/// The training text itself or, if it is a folder, the .txt files below it, in the order of their paths.
std::vector<fs::path> text_files_of(const fs::path& training) {
  std::error_code ignored;
  if (!fs::is_directory(training, ignored)) return {training};
  std::vector<fs::path> files;
  constexpr auto and_linked_ones = fs::directory_options::follow_directory_symlink;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(training, and_linked_ones))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The same. Throws base::BadInput if there are none.
std::vector<fs::path> training_files(const fs::path& training) {
  std::vector<fs::path> files = text_files_of(training);
  if (files.empty()) throw base::BadInput("{}: no .txt files; the training text is read from these", training.string());
  return files;
}

bool is_punctuation(std::string_view word) {
  return std::ranges::all_of(word, [](unsigned char letter) { return std::ispunct(letter) != 0; });
}

MissingWord::Form form_of(LambadaForm form) {
  if (form == LambadaForm::language_model) return MissingWord::Form::all_words;
  return form == LambadaForm::pointing ? MissingWord::Form::word_before_it : MissingWord::Form::class_of_it;
}

}  // namespace

Lambada::Lambada(const TaskOptions& options)
    : MissingWord(form_of(options.lambada_form), options.lambada_scores_all_words ? Scored::all_words : Scored::answer,
                  options.lambada_names,
                  options.lambada_form == LambadaForm::language_model
                      ? RepeatedWords()
                      : RepeatedWords{options.lambada_context, options.lambada_common}),
      longest_(options.lambada_longest) {
  const fs::path directory = data_directory(options.data, "LAMBADA files");
  directory_ = directory.string();
  for (const auto& [split, file] : lambada_files(directory)) {
    if (split == Split::train && repeats().context > 0)
      read_text(file);
    else
      read_passages(split, file);
  }
  training_ = find_training(directory).filename().string();
  number_words(options.vocabulary_size, directory_);
}

void Lambada::read_passages(Split split, const fs::path& file) {
  const std::string content = base::read_file(file);
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    check_line(line, file.string(), number);
    const std::vector<std::string_view> words = split_at_spaces(line);
    if (words.size() < 2 && split == Split::train) {
      ++too_short_;
      return;
    }
    if (words.size() < 2)
      throw base::BadInput("{}:{}: {} words; a passage has at least two, the last of which is to be predicted",
                           file.string(), number, words.size());
    check_words(words, file.string(), number);
    const std::int64_t passages = split == Split::train ? (std::ssize(words) + longest_ - 1) / longest_ : 1;
    if (passages > 1) ++too_long_;
    for (std::int64_t passage = 0; passage < passages; ++passage)
      add_passage(split, {words.begin() + passage * std::ssize(words) / passages,
                          words.begin() + (passage + 1) * std::ssize(words) / passages});
  });
}

void Lambada::add_passage(Split split, std::vector<std::string_view> words) {
  const std::string_view answer = words.back();
  if (split == Split::train && is_punctuation(answer)) ++ends_of_sentences_;
  words.pop_back();
  add(split, words, answer, std::ranges::count(words, answer) > 0 ? 0 : 1);
}

void Lambada::read_text(const fs::path& file) {
  const std::string content = base::read_file(file);
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    check_line(line, file.string(), number);
    const std::vector<std::string_view> words = split_at_spaces(line);
    check_words(words, file.string(), number);
    add_text(words);
  });
  end_text();
}

std::string Lambada::description() const {
  const std::string unanswered =
      fmt::format("end with a word {}", points() ? "that is none of those before it" : "outside the vocabulary");
  std::string text = fmt::format(
      "lambada: {}: {} training passages ({}{}), {} validation and {} test passages, of which {} and {} {}, {} symbols",
      directory_, size(Split::train), training_,
      repeats().context > 0 ? fmt::format(": words that are among the {} before them, without the {} commonest",
                                          repeats().context, repeats().common)
                            : "",
      size(Split::validation), size(Split::test), unanswerable(Split::validation), unanswerable(Split::test),
      unanswered, vocabulary().size());
  if (left_out() > 0) text += fmt::format("; {} such training passages are left out", left_out());
  if (too_short_ > 0) text += fmt::format("; {} training lines of fewer than two words are left out", too_short_);
  if (too_long_ > 0)
    text += fmt::format("; {} training lines of more than {} words are cut into passages", too_long_, longest_);
  if (has_source() && 2 * ends_of_sentences_ > size(Split::train))
    text += fmt::format(
        "; {} training lines end with punctuation, so that this is learned; --lambada-context N asks for words instead",
        ends_of_sentences_);
  if (has_control())
    text += fmt::format("; {} control passages, {} of which {}", size(Split::control), unanswerable(Split::control),
                        unanswered);
  return text;
}

std::vector<std::string> Lambada::groups() const { return {"target in context", "target not in context"}; }

std::string lambada_training_alone(const fs::path& directory) {
  for (const std::string& name : training_names())
    if (base::path_exists(directory / name) && !text_files_of(directory / name).empty())
      return fmt::format("for lambada, {} alone lacks {} and {}", name, development_name, test_name);
  return "";
}

std::vector<std::pair<Split, fs::path>> lambada_files(const fs::path& directory) {
  for (const char* name : {development_name, test_name}) check_is_there(directory, name);
  std::vector<std::pair<Split, fs::path>> files = {{Split::validation, directory / development_name},
                                                   {Split::test, directory / test_name}};
  const fs::path control = directory / "lambada_control_test_data_plain_text.txt";
  if (base::path_exists(control)) files.emplace_back(Split::control, control);
  for (const fs::path& file : training_files(find_training(directory))) files.emplace_back(Split::train, file);
  return files;
}

}  // namespace ut::datasets
