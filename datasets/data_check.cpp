#include "datasets/data_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_set>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/philox.h"
#include "datasets/agreement.h"
#include "datasets/babi_directory.h"
#include "datasets/dependencies.h"
#include "datasets/lambada.h"
#include "datasets/lines.h"
#include "datasets/make_task.h"
#include "datasets/parallel_text.h"
#include "datasets/task_options.h"
#include "datasets/translation.h"
#include "datasets/unicode.h"
#include "datasets/words.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

/// How often a flaw occurs in a file, and the first line that has it.
class Flaw {
 public:
  explicit Flaw(std::string what) : what_(std::move(what)) {}
  void found_in(std::size_t line) {
    if (count_++ == 0) first_ = line;
  }
  void say(const fs::path& file, std::vector<std::string>& lines) const {
    if (count_ == 0) return;
    const std::string more = count_ > 1 ? fmt::format(" ({} such lines)", count_) : "";
    lines.push_back(base::printable_line(fmt::format("{}:{}: {}{}", file.string(), first_, what_, more)));
  }

 private:
  std::string what_;
  std::size_t first_ = 0;
  std::int64_t count_ = 0;
};

/// Checks that apply to any text file. Lines that are not UTF-8 are errors only if the text is cut into pieces.
void check_lines(const fs::path& file, bool needs_utf8, DataCheck& found) {
  const std::string content = base::read_file(file);
  Flaw carriage("ends with a carriage return, which is left out");
  Flaw not_utf8("is not UTF-8");
  Flaw empty("is empty");
  Flaw nul("has a NUL");
  Flaw length(fmt::format("is longer than {} bytes", most_line_bytes));
  for_each_raw_line(content, [&](std::size_t number, std::string_view line) {
    if (line.ends_with('\r')) {
      carriage.found_in(number);
      line.remove_suffix(1);
    }
    if (line.size() > most_line_bytes) return length.found_in(number);
    if (!is_utf8(line)) not_utf8.found_in(number);
    if (split_at_spaces(line).empty()) empty.found_in(number);
    if (line.find('\0') != std::string_view::npos) nul.found_in(number);
  });
  not_utf8.say(file, needs_utf8 ? found.errors : found.warnings);
  for (const Flaw& flaw : {nul, length}) flaw.say(file, found.errors);
  for (const Flaw& flaw : {carriage, empty}) flaw.say(file, found.warnings);
}

/// Warns of pairs of lines that hardly say the same.
void check_pairs(const ParallelFiles& files, DataCheck& found) {
  constexpr std::size_t most_ratio = 9;
  const ParallelLines lines(files);
  Flaw lengths(
      fmt::format("has more than {} times as many words as the same line of the other file, or the reverse; do the two "
                  "files still match line by line?",
                  most_ratio));
  Flaw same("is the same in both languages");
  std::size_t longest[2] = {};
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::size_t source = split_at_spaces(lines.source(line)).size();
    const std::size_t target = split_at_spaces(lines.target(line)).size();
    longest[0] = std::max(longest[0], source);
    longest[1] = std::max(longest[1], target);
    const auto [fewer, more] = std::minmax(source, target);
    if (fewer > 0 && more > most_ratio * fewer) lengths.found_in(line + 1);
    if (source > 0 && lines.source(line) == lines.target(line)) same.found_in(line + 1);
  }
  found.description.push_back(fmt::format("  {}: {}, longest {} and {} words", files.name,
                                          base::counted(std::ssize(lines), "pair"), longest[0], longest[1]));
  for (const Flaw& flaw : {lengths, same}) flaw.say(files.target, found.warnings);
}

/// Adds what `action` throws to the errors.
template <typename Action>
void note_errors(DataCheck& found, Action action) {
  try {
    action();
  } catch (const base::BadInput& error) {
    found.errors.emplace_back(error.what());
  }
}

void check_parallel_text(const TaskOptions& options, DataCheck& found) {
  for (const Split split : all_splits) {
    note_errors(found, [&] {
      for (const ParallelFiles& files : translation_files(options, split)) {
        note_errors(found, [&] {
          check_pairs(files, found);
          for (const fs::path& file : {files.source, files.target}) check_lines(file, true, found);
        });
      }
    });
  }
}

std::vector<fs::path> babi_files(const TaskOptions& options) {
  const fs::path directory = find_babi_directory(options.data, options.babi_size);
  std::vector<fs::path> files;
  for (const std::int64_t task : babi_tasks(directory))
    for (const char* split : babi_file_splits)
      if (fs::path file = find_babi_file(directory, task, split); !file.empty()) files.push_back(std::move(file));
  return files;
}

std::vector<fs::path> agreement_files(const TaskOptions& options) {
  const fs::path directory = find_agreement_directory(options.data, options.agreement_form);
  if (directory.empty()) return {};
  if (options.agreement_form == AgreementForm::language_model && base::path_exists(directory / agreement_sentences))
    return {directory / agreement_sentences, directory / agreement_verbs};
  std::vector<fs::path> files;
  for (const std::string& name : agreement_number_files())
    if (base::path_exists(directory / name)) files.push_back(directory / name);
  if (files.empty()) files.push_back(directory / dependencies_table);
  return files;
}

/// The text files that a task is read from.
std::vector<fs::path> text_files(const TaskOptions& options) {
  if (options.task == "babi") return babi_files(options);
  if (options.task == "agreement") return agreement_files(options);
  std::vector<fs::path> files;
  for (const auto& [split, file] : lambada_files(options.data)) files.push_back(file);
  std::ranges::sort(files);
  return files;
}

std::uint64_t hash_of(const Example& example) {
  std::uint64_t hash = base::mix(0, static_cast<std::uint64_t>(example.answer));
  for (const auto& row : example.source) {
    hash = base::mix(hash, row.size());
    for (const std::int64_t word : row) hash = base::mix(hash, static_cast<std::uint64_t>(word));
  }
  for (const std::int64_t symbol : example.target) hash = base::mix(hash, static_cast<std::uint64_t>(symbol));
  return hash;
}

/// The lengths of examples, and the share of unknown words in the source, or in the target if there is no source.
class Sizes {
 public:
  explicit Sizes(const Task& task) : task_(task), unknown_id_(task.vocabulary().id("<unk>")) {}

  void add(const Example& example) {
    longest_source_ = std::max(longest_source_, example.source.size());
    longest_target_ = std::max(longest_target_, example.target.size());
    for (const auto& row : example.source) add_words(row);
    if (!task_.has_source()) add_words(example.target);
  }
  std::string text() const {
    const std::string source = task_.has_source() ? fmt::format(", longest source {} rows", longest_source_) : "";
    const std::string target = task_.has_target() ? fmt::format(", longest target {}", longest_target_) : "";
    return fmt::format("{}{}, {:.2f} % of the {} unknown", source, target,
                       words_ == 0 ? 0 : 100 * static_cast<double>(unknown_) / static_cast<double>(words_),
                       task_.has_source() ? "source" : "target");
  }

 private:
  void add_words(const std::vector<std::int64_t>& words) {
    words_ += std::ssize(words);
    unknown_ += unknown_id_ < 0 ? 0 : std::ranges::count(words, unknown_id_);
  }

  const Task& task_;
  std::int64_t unknown_id_;
  std::int64_t words_ = 0;
  std::int64_t unknown_ = 0;
  std::size_t longest_source_ = 0;
  std::size_t longest_target_ = 0;
};

/// Describes the examples of a split. Adds those of training to `seen`, and warns of others that are in it.
void check_split(const Task& task, Split split, std::unordered_set<std::uint64_t>& seen, DataCheck& found) {
  std::int64_t trained_on = 0;
  std::int64_t first_trained_on = 0;
  Sizes sizes(task);
  for (std::int64_t index = 0; index < task.size(split); ++index) {
    const Example example = task.example(split, index);
    sizes.add(example);
    if (split == Split::train) {
      seen.insert(hash_of(example));
    } else if (seen.contains(hash_of(example)) && trained_on++ == 0) {
      first_trained_on = index;
    }
  }
  found.description.push_back(fmt::format("  {}: {} examples{}", name_of(split), task.size(split), sizes.text()));
  if (trained_on > 0)
    found.warnings.push_back(
        fmt::format("{} of the {} {} examples are training examples too; the first is number {}, counted from 0",
                    trained_on, task.size(split), name_of(split), first_trained_on));
}

/// Warns of questions whose answer is that of no training question of their task: no model learns to give it. Tasks
/// without training questions are left to the description, which names the missing file.
void check_answers(const Task& task, DataCheck& found) {
  std::map<std::int64_t, std::set<std::int64_t>> learned;  // answers by group
  for (const Split split : all_splits) {
    std::int64_t count = 0;
    std::string first;
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const Example example = task.example(split, index);
      if (split == Split::train) learned[example.group].insert(example.answer);
      const auto answers = learned.find(example.group);
      if (answers == learned.end() || answers->second.contains(example.answer) || count++ > 0) continue;
      first = fmt::format("number {}, counted from 0: '{}', {}", index, task.render({example.answer}),
                          task.groups()[static_cast<std::size_t>(example.group)]);
    }
    if (count > 0)
      found.warnings.push_back(
          fmt::format("{} of the {} {} questions have an answer that no training question of their task has, so it is "
                      "not learned; the first is {}",
                      count, task.size(split), name_of(split), first));
  }
}

/// The options with which training reads all that is there.
TaskOptions options_for_all(TaskOptions options) {
  data_directory(options.data, "data");
  options.babi_task = "all";
  const auto has = [&](AgreementForm form) { return !find_agreement_directory(options.data, form).empty(); };
  if (!has(AgreementForm::number_prediction) && has(AgreementForm::language_model))
    options.agreement_form = AgreementForm::language_model;
  return options;
}

/// The bAbI tasks that can be trained on each by itself, as options to type.
std::string babi_task_options(const TaskOptions& options) {
  const fs::path directory = find_babi_directory(options.data, options.babi_size);
  std::vector<std::int64_t> whole = babi_tasks(directory);
  std::erase_if(whole, [&](std::int64_t task) {
    return find_babi_file(directory, task, "train").empty() || find_babi_file(directory, task, "test").empty();
  });
  if (std::ssize(whole) == babi_task_count)
    return fmt::format(" --babi-task N, where N is 1 to {} or all", babi_task_count);
  if (whole.empty()) return " --babi-task all";
  if (whole.size() == 1) return fmt::format(" --babi-task {}", whole.front());
  return fmt::format(" --babi-task N, where N is {} or all", fmt::join(whole, ", "));
}

std::string training_options(const TaskOptions& options) {
  std::string text = "--task " + options.task;
  if (options.task == "babi") text += babi_task_options(options);
  if (options.task == "agreement" && options.agreement_form == AgreementForm::language_model)
    text += " --agreement-form language-model";
  if (options.task == "translation") text += parallel_options(options, true);
  return text;
}

}  // namespace

DataCheck check_data(const TaskOptions& options) {
  const TaskOptions all = options_for_all(options);
  DataCheck found;
  found.description.push_back(fmt::format("{}: task {}", options.data, options.task));
  if (options.task == "translation")
    check_parallel_text(options, found);
  else
    note_errors(found, [&] {
      for (const fs::path& file : text_files(all)) note_errors(found, [&] { check_lines(file, false, found); });
    });
  if (!found.errors.empty()) return found;
  note_errors(found, [&] {
    const auto task = make_task(all);
    found.description.push_back("  " + task->description());
    std::unordered_set<std::uint64_t> seen;
    for (const Split split : all_splits) check_split(*task, split, seen, found);
    if (task->has_control()) check_split(*task, Split::control, seen, found);
    if (all.task == "babi") check_answers(*task, found);
    found.options = training_options(all);
  });
  return found;
}

namespace {

std::vector<std::string> known_tasks(const TaskOptions& options) {
  const fs::path directory = data_directory(options.data, "data");
  const auto any_file = [&](std::string_view begins) {
    return std::ranges::any_of(
        fs::directory_iterator(directory, fs::directory_options::skip_permission_denied),
        [&](const fs::directory_entry& entry) { return entry.path().filename().string().starts_with(begins); });
  };
  const auto has_babi = [&] {
    try {
      find_babi_directory(options.data, options.babi_size);
      return true;
    } catch (const base::BadInput&) {
      return false;
    }
  };
  std::vector<std::string> tasks;
  if (has_babi()) tasks.emplace_back("babi");
  if (!find_agreement_directory(options.data, AgreementForm::language_model).empty()) tasks.emplace_back("agreement");
  if (any_file("lambada_")) tasks.emplace_back("lambada");
  if (!options.train_sets.empty() || !parallel_sets(directory, "train", options.source_language).empty())
    tasks.emplace_back("translation");
  return tasks;
}

/// The directories below the data's that have files of a task, or what looks like training text, for a message; empty
/// if there are none.
std::string where_data_is(const TaskOptions& options) {
  std::vector<std::string> found;
  for (const fs::directory_entry& below : fs::directory_iterator(options.data)) {
    std::error_code unread;
    if (!below.is_directory() || fs::directory_iterator(below, unread) == fs::directory_iterator()) continue;
    TaskOptions there = options;
    there.data = below.path().string();
    there.train_sets.clear();
    const bool has_text = std::ranges::any_of(fs::directory_iterator(below), [](const fs::directory_entry& entry) {
      return entry.is_regular_file() && entry.path().filename().string().starts_with("train.");
    });
    if (has_text || !known_tasks(there).empty()) found.push_back(there.data);
  }
  std::ranges::sort(found);
  return found.empty() ? "" : fmt::format("; there is data in {}", fmt::join(found, ", "));
}

}  // namespace

std::vector<std::string> tasks_of_files(const TaskOptions& options) {
  const std::vector<std::string> tasks = known_tasks(options);
  if (tasks.empty()) {
    const std::string training_alone = lambada_training_alone(options.data);
    throw base::BadInput(
        "{}: no files of a known task ({}){}{}; for parallel text, give the languages and the names: "
        "--source-language, --target-language, --train-set{}",
        options.data, fmt::join(file_task_names(), ", "), training_alone.empty() ? "" : "; ", training_alone,
        where_data_is(options));
  }
  return tasks;
}

}  // namespace ut::datasets
