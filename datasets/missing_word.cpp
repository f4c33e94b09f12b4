#include "datasets/missing_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace ut::datasets {
namespace {

constexpr const char* unknown_word = "<unk>";

/// For each row of the example the number of its word among the different ones, in the order in which they come; the
/// first row holds none. `words` as the line has them, the last one next to the first row.
std::vector<std::int64_t> candidates_of(std::span<const std::int32_t> words) {
  std::unordered_map<std::int32_t, std::int64_t> numbers;
  std::vector<std::int64_t> candidates{no_answer};
  for (std::size_t back = words.size(); back > 0; --back)
    candidates.push_back(numbers.emplace(words[back - 1], std::ssize(numbers)).first->second);
  return candidates;
}

}  // namespace

MissingWord::Form MissingWord::form_named(const std::string& name, std::string_view option,
                                          const std::vector<std::pair<std::string, Form>>& forms) {
  std::vector<std::string> names;
  for (const auto& [one, form] : forms) {
    if (one == name) return form;
    names.push_back(one);
  }
  throw base::BadInput(
      fmt::format("{} {}: there is no such form; needs one of {}", option, name, fmt::join(names, ", ")));
}

void MissingWord::add(Split split, const std::vector<std::string_view>& words, std::string_view answer,
                      std::uint8_t group, std::string_view rival) {
  Part& examples = parts_[static_cast<std::size_t>(split)];
  std::vector<std::int32_t> numbers;
  for (const std::string_view word : words) numbers.push_back(table_.number(std::string(word)));
  examples.words.append(numbers);
  examples.answers.push_back(table_.number(std::string(answer)));
  examples.rivals.push_back(rival.empty() ? static_cast<std::int32_t>(no_answer) : table_.number(std::string(rival)));
  examples.groups.push_back(group);
}

void MissingWord::number_words(std::int64_t most, const std::string& source) {
  for (const auto& [split, name] : {std::pair(Split::train, "training"), std::pair(Split::validation, "validation"),
                                    std::pair(Split::test, "test")})
    if (size(split) == 0)
      throw base::BadInput(fmt::format("{}: no {} examples; one line at least is needed", source, name));
  std::vector<std::int64_t> counts(table_.words().size());
  const Part& train = part(Split::train);
  for (const auto numbers : {train.words.words(), Numbers(train.answers)})
    for (const std::int32_t number : numbers) ++counts[static_cast<std::size_t>(number)];
  std::vector<std::string> words = most_frequent_first(table_.words(), counts);
  std::erase(words, unknown_word);
  words.resize(std::min(words.size(), static_cast<std::size_t>(most)));
  words.emplace(words.begin(), unknown_word);
  vocabulary_ = Vocabulary(words);

  std::vector<std::int32_t> ids;
  for (const std::string& word : table_.words()) {
    const std::int64_t id = vocabulary_.id(word);
    ids.push_back(static_cast<std::int32_t>(id < 0 ? vocabulary_.size() + std::ssize(ids) : id));
  }
  for (Part& examples : parts_)
    for (const auto numbers : {examples.words.words(), std::span(examples.answers), std::span(examples.rivals)})
      for (std::int32_t& number : numbers)
        if (number != no_answer) number = ids[static_cast<std::size_t>(number)];
  drop_unanswerable();
  if (size(Split::train) == 0)
    throw base::BadInput(fmt::format("{}: no training example has an answer that can be given; {}", source,
                                     points() ? "one at least needs to end with a word that stands before"
                                              : "a larger --vocabulary-size is needed"));
  table_ = WordTable();
}

/// All words are learned from any line.
void MissingWord::drop_unanswerable() {
  if (form_ == Form::all_words) return;
  Part& examples = parts_[static_cast<std::size_t>(Split::train)];
  Part kept;
  for (std::size_t place = 0; place < examples.answers.size(); ++place) {
    if (!is_answerable(examples, place)) continue;
    kept.words.append(examples.words.line(place));
    kept.answers.push_back(examples.answers[place]);
    kept.rivals.push_back(examples.rivals[place]);
    kept.groups.push_back(examples.groups[place]);
  }
  left_out_ = std::ssize(examples.answers) - std::ssize(kept.answers);
  examples = std::move(kept);
}

bool MissingWord::is_answerable(const Part& part, std::size_t place) const {
  const std::int32_t answer = part.answers[place];
  if (points()) return std::ranges::count(part.words.line(place), answer) > 0;
  if (!is_known(answer)) return false;
  const std::int32_t rival = part.rivals[place];
  return has_source() || rival == no_answer || is_known(rival);
}

std::int64_t MissingWord::unanswerable(Split split) const {
  std::int64_t count = 0;
  for (std::size_t place = 0; std::cmp_less(place, size(split)); ++place)
    count += is_answerable(part(split), place) ? 0 : 1;
  return count;
}

std::int64_t MissingWord::id_of(std::int32_t number) const {
  return is_known(number) ? number : vocabulary_.id(unknown_word);
}

Example MissingWord::source_of(Numbers words) const {
  Example example;
  example.source.push_back({end_of_sequence_id});
  for (std::size_t back = words.size(); back > 0; --back) example.source.push_back({id_of(words[back - 1])});
  if (points()) example.candidates = candidates_of(words);
  return example;
}

Example MissingWord::target_of(Numbers words) const {
  Example example;
  for (const std::int32_t word : words) example.target.push_back(id_of(word));
  return example;
}

Example MissingWord::example(Split split, std::int64_t index) const {
  if (index < 0 || index >= size(split))
    throw std::out_of_range(fmt::format("no example {}; the split has {}", index, size(split)));
  const auto place = static_cast<std::size_t>(index);
  const Part& examples = part(split);
  const Numbers words = examples.words.line(place);
  const std::int32_t answer = examples.answers[place];
  const bool answerable = is_answerable(examples, place);
  Example example = has_source() ? source_of(words) : target_of(words);
  example.group = examples.groups[place];
  if (points()) {
    const auto back = std::find(words.rbegin(), words.rend(), answer) - words.rbegin();
    if (answerable) example.answer = example.candidates[static_cast<std::size_t>(1 + back)];
  } else if (has_source()) {
    if (answerable) example.answer = answer;
  } else if (split == Split::train) {
    example.target.insert(example.target.end(), {id_of(answer), end_of_sequence_id});
  } else {
    example.first_label = std::ssize(words);
    example.target.push_back(answerable ? answer : no_answer);
    if (answerable) example.rival = examples.rivals[place];
  }
  return example;
}

Example MissingWord::parse(const std::string& line) const {
  WordTable unknown;
  std::vector<std::int32_t> numbers;
  for (const std::string_view view : split_at_spaces(line)) {
    const std::string word(view);
    const std::int64_t id = vocabulary_.id(word);
    numbers.push_back(static_cast<std::int32_t>(id < 0 ? vocabulary_.size() + unknown.number(word) : id));
  }
  if (numbers.empty()) throw base::BadInput(fmt::format("'{}': the words before the missing one are needed", line));
  if (has_source()) return source_of(numbers);
  Example example = target_of(numbers);
  example.first_label = std::ssize(example.target);
  example.target.push_back(no_answer);
  return example;
}

}  // namespace ut::datasets
