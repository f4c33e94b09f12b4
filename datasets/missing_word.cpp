#include "datasets/missing_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace ut::datasets {
namespace {

constexpr const char* unknown_word = "<unk>";

}  // namespace

void MissingWord::add(Split split, const std::vector<std::string_view>& words, std::string_view answer,
                      std::uint8_t group) {
  Part& examples = parts_[static_cast<std::size_t>(split)];
  std::vector<std::int32_t> numbers;
  for (const std::string_view word : words) numbers.push_back(table_.number(std::string(word)));
  examples.words.append(numbers);
  examples.answers.push_back(table_.number(std::string(answer)));
  examples.groups.push_back(group);
}

void MissingWord::number_words(std::int64_t most, const std::string& source) {
  for (const auto& [split, name] : {std::pair(Split::train, "training"), std::pair(Split::validation, "validation"),
                                    std::pair(Split::test, "test")})
    if (size(split) == 0)
      throw base::BadInput(fmt::format("{}: no {} examples; one line at least is needed", source, name));
  std::vector<std::int64_t> counts(table_.words().size());
  const Part& train = part(Split::train);
  for (const auto numbers : {train.words.words(), std::span<const std::int32_t>(train.answers)})
    for (const std::int32_t number : numbers) ++counts[static_cast<std::size_t>(number)];
  std::vector<std::string> words = most_frequent_first(table_.words(), counts);
  std::erase(words, unknown_word);
  words.resize(std::min(words.size(), static_cast<std::size_t>(most)));
  words.emplace(words.begin(), unknown_word);
  vocabulary_ = Vocabulary(words);

  std::vector<std::int32_t> ids;
  for (const std::string& word : table_.words()) ids.push_back(static_cast<std::int32_t>(vocabulary_.id(word)));
  const auto unknown = static_cast<std::int32_t>(vocabulary_.id(unknown_word));
  const auto id_or = [&ids](std::int32_t number, std::int32_t otherwise) {
    const std::int32_t id = ids[static_cast<std::size_t>(number)];
    return id < 0 ? otherwise : id;
  };
  for (Part& examples : parts_) {
    for (std::int32_t& word : examples.words.words()) word = id_or(word, unknown);
    for (std::int32_t& answer : examples.answers) answer = id_or(answer, static_cast<std::int32_t>(no_answer));
  }
  drop_unanswerable(parts_[static_cast<std::size_t>(Split::train)]);
  table_ = WordTable();
}

void MissingWord::drop_unanswerable(Part& examples) const {
  Part kept;
  for (std::size_t index = 0; index < examples.answers.size(); ++index) {
    if (examples.answers[index] == no_answer) continue;
    kept.words.append(examples.words.line(index));
    kept.answers.push_back(examples.answers[index]);
    kept.groups.push_back(examples.groups[index]);
  }
  examples = std::move(kept);
}

std::int64_t MissingWord::unanswerable(Split split) const { return std::ranges::count(part(split).answers, no_answer); }

Example MissingWord::example_of(std::span<const std::int32_t> words) const {
  Example example;
  example.source.push_back({end_of_sequence_id});
  for (std::size_t back = words.size(); back > 0; --back) example.source.push_back({words[back - 1]});
  return example;
}

Example MissingWord::example(Split split, std::int64_t index) const {
  if (index < 0 || index >= size(split))
    throw std::out_of_range(fmt::format("no example {}; the split has {}", index, size(split)));
  const auto place = static_cast<std::size_t>(index);
  Example example = example_of(part(split).words.line(place));
  example.answer = part(split).answers[place];
  example.group = part(split).groups[place];
  return example;
}

Example MissingWord::parse(const std::string& line) const {
  std::vector<std::int32_t> ids;
  for (const std::string_view word : split_at_spaces(line)) {
    const std::int64_t id = vocabulary_.id(std::string(word));
    ids.push_back(static_cast<std::int32_t>(id < 0 ? vocabulary_.id(unknown_word) : id));
  }
  if (ids.empty()) throw base::BadInput(fmt::format("'{}': the words before the missing one are needed", line));
  return example_of(ids);
}

std::string MissingWord::render(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (const std::int64_t id : ids) text += (text.empty() ? "" : " ") + vocabulary_.symbol(id);
  return text;
}

}  // namespace ut::datasets
