#include "datasets/translation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <future>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "datasets/task_options.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t more_than_source = 50;  // symbols that a translation may have beyond its source

/// The usual names of a split's sets, and the option that names others.
struct SetNames {
  std::vector<std::string> usual;
  bool exact_alone;  // a set of just this name is taken without those whose names go on
  std::string option;
  const std::vector<std::string>& given;
};

SetNames set_names(const TaskOptions& options, Split split) {
  if (split == Split::train) return {{"train"}, true, "--train-set", options.train_sets};
  if (split == Split::validation)
    return {{"validation", "valid", "val", "dev"}, true, "--validation-set", options.validation_sets};
  return {{"test"}, false, "--test-set", options.test_sets};
}

using IdsOfPair = std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>;

/// Starts to read(number) the next lines, as many as are kept in memory at once, in a thread for each core. Each result
/// has a slice of them, one after another. `read` must outlive them.
std::vector<std::future<std::vector<IdsOfPair>>> read_at_once(std::size_t first, std::size_t lines,
                                                              const std::function<IdsOfPair(std::size_t)>& read) {
  constexpr std::size_t most_of_thread = 4096;
  const std::size_t last = std::min(lines, first + most_of_thread * std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::future<std::vector<IdsOfPair>>> slices;
  for (std::size_t begin = first; begin < last; begin += most_of_thread)
    slices.push_back(std::async(std::launch::async, [&read, begin, end = std::min(last, begin + most_of_thread)] {
      std::vector<IdsOfPair> pairs;
      for (std::size_t number = begin; number < end; ++number) pairs.push_back(read(number));
      return pairs;
    }));
  return slices;
}

fs::path parallel_directory(const TaskOptions& options) {
  return data_directory(options.data, fmt::format("files train.{} and train.{}, and so on", options.source_language,
                                                  options.target_language));
}

Subwords read_subwords(const TaskOptions& options) {
  const bool is_given = !options.sentencepiece.empty();
  const fs::path file = is_given ? fs::path(options.sentencepiece) : parallel_directory(options) / subword_model_name;
  if (!base::path_exists(file)) {
    translation_files(options, Split::train);  // throws if the files that the model is made of are missing
    throw base::BadInput("{}: no such file; make it with: ut data sentencepiece --data {}{}{}", file.string(),
                         base::shell_word(options.data), parallel_options(options, false),
                         is_given ? " --out " + base::shell_word(file.string()) : "");
  }
  return {base::read_file(file), file.string()};
}

std::vector<std::int64_t> with_end(std::span<const std::int32_t> ids) {
  std::vector<std::int64_t> sequence(ids.begin(), ids.end());
  sequence.push_back(end_of_sequence_id);
  return sequence;
}

std::vector<std::vector<std::int64_t>> source_rows(std::span<const std::int32_t> ids) {
  std::vector<std::vector<std::int64_t>> rows;
  for (const std::int64_t id : with_end(ids)) rows.push_back({id});
  return rows;
}

}  // namespace

std::string parallel_options(const TaskOptions& options, bool all) {
  std::string text = fmt::format(" --source-language {} --target-language {}",
                                 base::shell_word(options.source_language), base::shell_word(options.target_language));
  for (const Split split : all_splits) {
    const SetNames names = set_names(options, split);
    if (!names.given.empty() && (all || split == Split::train))
      text += fmt::format(" {} {}", names.option, base::shell_word(fmt::format("{}", fmt::join(names.given, ","))));
  }
  if (all && !options.sentencepiece.empty()) text += " --sentencepiece " + base::shell_word(options.sentencepiece);
  return text;
}

std::vector<ParallelFiles> translation_files(const TaskOptions& options, Split split) {
  const fs::path directory = parallel_directory(options);
  const SetNames names = set_names(options, split);
  std::vector<std::string> sets = names.given;
  for (const std::string& name : names.usual) {
    if (!sets.empty()) break;
    sets = parallel_sets(directory, name, options.source_language);
    if (names.exact_alone && std::ranges::count(sets, name) > 0) sets = {name};
  }
  if (sets.empty())
    throw base::BadInput("--data {}: no file {}.{}; give {} NAME for the files NAME.{} and NAME.{}", directory.string(),
                         fmt::join(names.usual, ", "), options.source_language, names.option, options.source_language,
                         options.target_language);
  std::vector<ParallelFiles> files;
  for (const std::string& set : sets) {
    if (std::ranges::count(sets, set) > 1)
      throw base::BadInput("{} {}: {} is given twice; give it once", names.option, fmt::join(sets, ","), set);
    files.push_back(find_parallel_files(directory, set, options.source_language, options.target_language));
  }
  return files;
}

Translation::Translation(const TaskOptions& options)
    : directory_(options.data),
      languages_(fmt::format("{}-{}", options.source_language, options.target_language)),
      longest_pair_(options.longest_pair),
      splits_(options.splits),
      subwords_(read_subwords(options)) {
  check_splits(*this, splits_);  // before their files are looked for
  for (const Split split : splits_)
    for (const ParallelFiles& files : translation_files(options, split)) read_set(split, files, options);
  if (std::ranges::count(splits_, Split::train) > 0 && size(Split::train) == 0)
    throw base::BadInput("--longest-pair {}: no training pairs are left; {} are longer and {} empty", longest_pair_,
                         part(Split::train).too_long, part(Split::train).empty);
}

void Translation::read_set(Split split, const ParallelFiles& files, const TaskOptions& options) {
  const ParallelLines lines(files);
  Part& pairs = parts_[static_cast<std::size_t>(split)];
  const auto set = static_cast<std::int64_t>(set_names_.size());
  set_names_.push_back(files.name);
  pairs.set_names.push_back(files.name);
  const auto ids = [this](const fs::path& file, std::size_t number, std::string_view line) {
    try {
      return subwords_.ids(line);
    } catch (const base::BadInput& error) {
      throw base::BadInput("{}:{}: {}", file.string(), number + 1, error.what());
    }
  };
  const std::function<IdsOfPair(std::size_t)> read = [&](std::size_t number) {
    auto source = ids(files.source, number, lines.source(number));
    return std::pair(std::move(source), ids(files.target, number, lines.target(number)));
  };
  // Texts of train are many, and needed only if it is scored. It is then the only split that is asked for.
  const bool keeps_right_texts = split != Split::train || options.splits.size() == 1;
  std::size_t number = 0;
  const auto add = [&](std::span<const std::int32_t> source, std::span<const std::int32_t> target) {
    const std::string_view text = lines.target(number++);
    const bool empty = source.empty() || target.empty();
    if (split == Split::train && (empty || std::ssize(source) > longest_pair_ || std::ssize(target) > longest_pair_)) {
      ++(empty ? pairs.empty : pairs.too_long);
      return;
    }
    pairs.sources.append(source);
    pairs.targets.append(target);
    pairs.sets.push_back(set);
    if (keeps_right_texts) pairs.right_text.emplace_back(text);
  };
  while (number < lines.size())
    for (auto& slice : read_at_once(number, lines.size(), read))
      for (const auto& [source, target] : slice.get()) add(source, target);
}

std::string Translation::description() const {
  std::vector<std::string> sizes;
  for (const auto& [split, name] : {std::pair(Split::train, "training"), std::pair(Split::validation, "validation"),
                                    std::pair(Split::test, "test")})
    if (std::ranges::count(splits_, split) > 0) {
      const auto& sets = part(split).set_names;
      const std::string which = sets.size() > 1 ? fmt::format(" ({})", fmt::join(sets, " + ")) : "";
      sizes.push_back(fmt::format("{} {}{}", size(split), name, which));
    }
  const Part& train = part(Split::train);
  std::string left_out;
  if (train.empty + train.too_long > 0)
    left_out = fmt::format("; left out of training: {} longer than {} pieces, {} empty", train.too_long, longest_pair_,
                           train.empty);
  return fmt::format("translation: {} {}: {} pairs, {} symbols{}", directory_, languages_, fmt::join(sizes, ", "),
                     vocabulary().size(), left_out);
}

std::vector<std::string> Translation::groups() const {
  return set_names_.size() > splits_.size() ? set_names_ : std::vector<std::string>();
}

Example Translation::example(Split split, std::int64_t index) const {
  if (index < 0 || index >= size(split))
    throw std::out_of_range(fmt::format("translation: no example {}; the split has {}", index, size(split)));
  const auto place = static_cast<std::size_t>(index);
  Example example;
  example.source = source_rows(part(split).sources.line(place));
  example.target = with_end(part(split).targets.line(place));
  example.group = part(split).sets[place];
  return example;
}

ExampleSize Translation::example_size(Split split, std::int64_t index) const {
  const auto place = static_cast<std::size_t>(index);
  const std::int64_t source = std::ssize(part(split).sources.line(place)) + 1;  // with the end
  const std::int64_t target = std::ssize(part(split).targets.line(place)) + 1;
  return {index, source, target, target};
}

Example Translation::parse(const std::string& line) const {
  Example example;
  if (const std::vector<std::int32_t> ids = subwords_.ids(line); !ids.empty()) example.source = source_rows(ids);
  return example;
}

std::string Translation::render(const std::vector<std::int64_t>& ids) const { return subwords_.text(ids); }

std::string Translation::right_text(Split split, std::int64_t index) const {
  return part(split).right_text.at(static_cast<std::size_t>(index));
}

std::int64_t Translation::longest_output(const Example& example) const {
  return std::ssize(example.source) + more_than_source;
}

std::vector<KeptFile> Translation::kept_files() const { return {{subword_model_name, subwords_.model()}}; }

}  // namespace ut::datasets
