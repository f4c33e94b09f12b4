#include "datasets/missing_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/philox.h"
#include "base/shuffle.h"

namespace ut::datasets {
namespace {

constexpr const char* unknown_word = "<unk>";

/// The symbols that stand for words outside the vocabulary.
std::vector<std::string> unknown_words(std::int64_t names) {
  std::vector<std::string> symbols = {unknown_word};
  for (std::int64_t name = 1; name <= names; ++name) symbols.push_back(fmt::format("<unk-{}>", name));
  return symbols;
}

/// For each source row, the number of its word among the example's different words, in the order of the rows. The first
/// row has none. `words` are in the line's order: the last one is next to the first row.
std::vector<std::int64_t> candidates_of(std::span<const std::int32_t> words) {
  std::unordered_map<std::int32_t, std::int64_t> numbers;
  std::vector<std::int64_t> candidates{no_answer};
  for (std::size_t back = words.size(); back > 0; --back)
    candidates.push_back(numbers.emplace(words[back - 1], std::ssize(numbers)).first->second);
  return candidates;
}

}  // namespace

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

void MissingWord::add_text(const std::vector<std::string_view>& words) {
  std::vector<std::int32_t> numbers;
  for (const std::string_view word : words) numbers.push_back(table_.number(std::string(word)));
  texts_.back().end = parts_[static_cast<std::size_t>(Split::train)].words.append_text(numbers).end;
}

void MissingWord::end_text() { texts_.push_back({texts_.back().end, texts_.back().end}); }

void MissingWord::check_splits_have_examples(const std::string& source) const {
  for (const auto& [split, name] : {std::pair(Split::train, "training"), std::pair(Split::validation, "validation"),
                                    std::pair(Split::test, "test")})
    if (size(split) == 0 && part(split).words.words().empty())
      throw base::BadInput("{}: no {} examples; one line at least is needed", source, name);
}

std::vector<std::string> MissingWord::training_words() const {
  std::vector<std::int64_t> counts(table_.words().size());
  const Part& train = part(Split::train);
  for (const auto numbers : {train.words.words(), Numbers(train.answers)})
    for (const std::int32_t number : numbers) ++counts[static_cast<std::size_t>(number)];
  return most_frequent_first(table_.words(), counts);
}

void MissingWord::renumber(const std::vector<std::int32_t>& ids) {
  for (Part& examples : parts_)
    for (const auto numbers : {examples.words.words(), std::span(examples.answers), std::span(examples.rivals)})
      for (std::int32_t& number : numbers)
        if (number != no_answer) number = ids[static_cast<std::size_t>(number)];
}

void MissingWord::number_words(std::int64_t most, const std::string& source) {
  check_splits_have_examples(source);
  std::vector<std::string> words = training_words();
  std::vector<std::string> symbols = unknown_words(names_);
  std::erase_if(words, [&](const std::string& word) { return std::ranges::find(symbols, word) != symbols.end(); });
  const std::size_t unknown = symbols.size();
  symbols.insert(symbols.end(), words.begin(), words.end());
  const Vocabulary all(symbols);  // ids beyond the vocabulary's say how common the words outside it are
  symbols.resize(unknown + std::min(words.size(), static_cast<std::size_t>(most)));
  vocabulary_ = Vocabulary(symbols);
  std::vector<std::int32_t> ids;
  for (const std::string& word : table_.words()) {
    const std::int64_t id = all.id(word);
    ids.push_back(static_cast<std::int32_t>(id < 0 ? all.size() + std::ssize(ids) : id));  // not in the training text
  }
  renumber(ids);
  if (repeats_.context > 0)
    add_repeats(all.size() - std::ssize(words) + repeats_.common);
  else
    drop_unanswerable();
  if (size(Split::train) == 0)
    throw base::BadInput(
        "{}: no training example has an answer that the model can give; {}", source,
        repeats_.context > 0
            ? "needs a word that is among those before it and not one of the --lambada-common commonest"
        : points() ? "needs at least one whose last word also stands earlier in it"
                   : "needs a larger --vocabulary-size");
  table_ = WordTable();
}

/// Adds the repeated words that have an answer as training examples. Words whose ids are below `most_common` are
/// common.
void MissingWord::add_repeats(std::int64_t most_common) {
  Part& train = parts_[static_cast<std::size_t>(Split::train)];
  const auto is_common = [&](std::int32_t word) { return word < most_common; };
  for (const base::Span& text : texts_) {
    const Numbers words = std::as_const(train.words).text(text);
    for_each_repeat(words, repeats_.context, is_common, [&](const base::Span& before, std::int64_t place) {
      const std::int32_t word = words[static_cast<std::size_t>(place)];
      if (form_ == Form::class_of_it && !is_known(word)) {
        ++left_out_;
        return;
      }
      train.words.add_line({text.begin + before.begin, text.begin + before.end});
      train.answers.push_back(word);
      train.rivals.push_back(static_cast<std::int32_t>(no_answer));
      train.groups.push_back(0);
    });
  }
}

/// All words are learned from any line, so that form drops none.
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

std::vector<std::int64_t> MissingWord::ids_of(Numbers words, std::uint64_t key) const {
  std::vector<std::int64_t> names(static_cast<std::size_t>(names_));
  std::iota(names.begin(), names.end(), vocabulary_.id(unknown_word) + 1);
  base::Random random(base::mix(key, names.size()));
  base::shuffle(names, random);
  std::unordered_map<std::int32_t, std::int64_t> given;
  std::vector<std::int64_t> ids;
  for (const std::int32_t word : words) {
    const bool has_name = !is_known(word) && (given.contains(word) || given.size() < names.size());
    ids.push_back(has_name ? given.try_emplace(word, names[given.size() % names.size()]).first->second : id_of(word));
  }
  return ids;
}

Example MissingWord::source_of(Numbers words, std::uint64_t key) const {
  Example example;
  example.source.push_back({end_of_sequence_id});
  const std::vector<std::int64_t> ids = ids_of(words, key);
  for (const std::int64_t id : std::views::reverse(ids)) example.source.push_back({id});
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
  const std::uint64_t key = base::mix(static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
  Example example = has_source() ? source_of(words, key) : target_of(words);
  example.group = examples.groups[place];
  if (points()) {
    const auto back = std::find(words.rbegin(), words.rend(), answer) - words.rbegin();
    if (answerable) example.answer = example.candidates[static_cast<std::size_t>(1 + back)];
  } else if (has_source()) {
    if (answerable) example.answer = answer;
  } else if (asks_for_all(split)) {
    example.target.insert(example.target.end(), {id_of(answer), end_of_sequence_id});
  } else {
    example.first_label = std::ssize(words);
    example.target.push_back(answerable ? answer : no_answer);
    if (answerable) example.rival = examples.rivals[place];
  }
  return example;
}

ExampleSize MissingWord::example_size(Split split, std::int64_t index) const {
  const auto place = static_cast<std::size_t>(index);
  const std::int64_t words = std::ssize(part(split).words.line(place));
  if (!has_source() && asks_for_all(split)) return {index, 0, words + 2, words + 2};
  const std::int64_t answers = is_answerable(part(split), place) ? 1 : 0;
  return has_source() ? ExampleSize{index, 1 + words, 0, answers, points()} : ExampleSize{index, 0, words + 1, answers};
}

Example MissingWord::parse(const std::string& line) const {
  WordTable unknown;
  std::vector<std::int32_t> numbers;
  for (const std::string_view view : split_at_spaces(line)) {
    const std::string word(view);
    const std::int64_t id = vocabulary_.id(word);
    numbers.push_back(static_cast<std::int32_t>(id < 0 ? vocabulary_.size() + unknown.number(word) : id));
  }
  if (numbers.empty()) throw base::BadInput("'{}': needs the words before the missing one", line);
  if (has_source()) return source_of(numbers, 0);
  Example example = target_of(numbers);
  example.first_label = std::ssize(example.target);
  example.target.push_back(no_answer);
  return example;
}

}  // namespace ut::datasets
