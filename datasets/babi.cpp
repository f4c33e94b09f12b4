#include "datasets/babi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"
#include "datasets/babi_directory.h"
#include "datasets/task_options.h"

namespace ut::datasets {
namespace {

std::int64_t task_number(const std::string& text) {
  const auto number = base::parse_number<std::int64_t>(text);
  if (!number || *number < 1 || *number > babi_task_count)
    throw base::BadInput("--babi-task {}: it is 1 to {}, or all", text, babi_task_count);
  return *number;
}

/// Moves the last tenth of the stories, at least one, out of `train`.
std::vector<BabiStory> take_last_tenth(std::vector<BabiStory>& train, const std::string& file) {
  if (train.size() < 2)
    throw base::BadInput("{}: one story only; give a validation file beside it, or two stories or more", file);
  const auto taken = std::max<std::ptrdiff_t>(1, std::ssize(train) / 10);
  const auto first = train.end() - taken;
  std::vector<BabiStory> last(std::make_move_iterator(first), std::make_move_iterator(train.end()));
  train.erase(first, train.end());
  return last;
}

/// Counts every word as often as it occurs in the examples: a fact once for each question that can use it.
void count_words(const BabiStory& story, std::vector<std::int64_t>& counts) {
  const auto add = [&](std::int32_t word, std::int64_t times) { counts[static_cast<std::size_t>(word)] += times; };
  for (const BabiQuestion& question : story.questions) {
    for (const std::int32_t word : question.words) add(word, 1);
    add(question.answer, 1);
  }
  auto later = story.questions.begin();
  for (std::size_t fact = 0; fact < story.facts.size(); ++fact) {
    while (later != story.questions.end() && later->facts <= static_cast<std::int64_t>(fact)) ++later;
    for (const std::int32_t word : story.facts[fact]) add(word, story.questions.end() - later);
  }
}

void renumber(BabiStory& story, const std::vector<std::int32_t>& ids) {
  const auto renumber_word = [&](std::int32_t& word) { word = ids[static_cast<std::size_t>(word)]; };
  for (Sentence& fact : story.facts) std::for_each(fact.begin(), fact.end(), renumber_word);
  for (BabiQuestion& question : story.questions) {
    std::for_each(question.words.begin(), question.words.end(), renumber_word);
    renumber_word(question.answer);
  }
}

std::size_t longest_sentence(const BabiStory& story) {
  std::size_t longest = 0;
  for (const Sentence& fact : story.facts) longest = std::max(longest, fact.size());
  for (const BabiQuestion& question : story.questions) longest = std::max(longest, question.words.size());
  return longest;
}

/// The sentences of a typed line, the question last.
std::vector<std::vector<std::string>> sentences_of(const std::string& line) {
  std::vector<std::vector<std::string>> sentences(1);
  for (std::string& word : split_words(line)) {
    const bool ends = word == "." || word == "?";
    sentences.back().push_back(std::move(word));
    if (ends) sentences.emplace_back();
  }
  const bool complete = sentences.back().empty();
  sentences.pop_back();
  const auto asks = [](const auto& sentence) { return sentence.back() == "?"; };
  if (!complete || std::count_if(sentences.begin(), sentences.end(), asks) != 1 || !asks(sentences.back()))
    throw base::BadInput("'{}': needs facts that end with '.', then one question that ends with '?'", line);
  return sentences;
}

}  // namespace

Babi::Babi(const TaskOptions& options) : task_(options.babi_task), memory_(options.babi_memory), vocabulary_({}) {
  if (!is_joint()) tasks_ = {task_number(task_)};
  directory_ = find_babi_directory(options.data, options.babi_size);
  if (is_joint()) tasks_ = babi_tasks(directory_);
  WordTable table;
  for (const std::int64_t task : tasks_) read_task(task, table);
  index_questions();
  number_words(table);
}

void Babi::read_task(std::int64_t task, WordTable& table) {
  const AnswerCommas commas = is_joint() || task == 8 || task == 19 ? AnswerCommas::drop : AnswerCommas::keep;
  const auto read = [&](const std::string& split) -> std::vector<BabiStory> {
    const std::filesystem::path file = find_babi_file(directory_, task, split);
    if (!file.empty()) return read_babi_stories(base::read_file(file), file.string(), commas, table);
    const std::string expected = expected_babi_file(directory_, task, split);
    if (!is_joint())
      throw base::BadInput("{}: no such file; it holds the {} stories of bAbI task {}",
                           (directory_ / expected).string(), split, task);
    missing_.push_back(expected);
    return {};
  };
  std::vector<BabiStory> train = read("train");
  std::vector<BabiStory> test = read("test");
  std::vector<BabiStory> validation;
  if (!find_babi_file(directory_, task, "valid").empty()) {
    validation = read("valid");
  } else if (!train.empty()) {
    validation = take_last_tenth(train, find_babi_file(directory_, task, "train").string());
  }
  const auto append = [task](Part& part, std::vector<BabiStory> stories) {
    for (BabiStory& story : stories) story.task = task;
    part.stories.insert(part.stories.end(), std::make_move_iterator(stories.begin()),
                        std::make_move_iterator(stories.end()));
  };
  append(part(Split::train), std::move(train));
  append(part(Split::validation), std::move(validation));
  append(part(Split::test), std::move(test));
}

void Babi::index_questions() {
  for (const Split split : all_splits) {
    Part& questions = part(split);
    for (std::size_t story = 0; story < questions.stories.size(); ++story)
      for (std::size_t question = 0; question < questions.stories[story].questions.size(); ++question)
        questions.places.push_back({story, question});
    if (questions.places.empty())
      throw base::BadInput(missing_.empty()
                               ? fmt::format("{}: the {} stories have no questions; at least one is needed",
                                             directory_.string(), name_of(split))
                               : fmt::format("{}: no {} questions; there is no {}", directory_.string(), name_of(split),
                                             fmt::join(missing_, ", ")));
  }
}

void Babi::number_words(const WordTable& table) {
  std::vector<std::int64_t> counts(table.words().size());
  for (const Part& part : parts_)
    for (const BabiStory& story : part.stories) count_words(story, counts);
  vocabulary_ = Vocabulary(most_frequent_first(table.words(), counts));
  std::vector<std::int32_t> ids;  // -1 for words that only facts after the last question have: no example shows them
  for (const std::string& word : table.words()) ids.push_back(static_cast<std::int32_t>(vocabulary_.id(word)));
  for (Part& part : parts_) {
    for (BabiStory& story : part.stories) {
      renumber(story, ids);
      words_per_row_ = std::max(words_per_row_, static_cast<std::int64_t>(longest_sentence(story)));
    }
  }
}

std::string Babi::description() const {
  std::size_t longest = 0;
  for (const Part& part : parts_)
    for (const BabiStory& story : part.stories) longest = std::max(longest, story.facts.size());
  const std::string tasks = std::ssize(tasks_) == babi_task_count
                                ? "all tasks"
                                : fmt::format("task{} {}", tasks_.size() == 1 ? "" : "s", fmt::join(tasks_, ", "));
  std::string text = fmt::format(
      "bAbI {} from {}: {} training, {} validation and {} test questions, stories of up to {} facts, {} symbols", tasks,
      directory_.string(), size(Split::train), size(Split::validation), size(Split::test), longest, vocabulary_.size());
  if (memory_ > 0) text += fmt::format(", the newest {} facts kept", memory_);
  if (!missing_.empty()) text += fmt::format("; missing: {}", fmt::join(missing_, ", "));
  return text;
}

std::vector<std::string> Babi::groups() const {
  std::vector<std::string> names;
  if (is_joint())
    for (std::int64_t task = 1; task <= babi_task_count; ++task) names.push_back(fmt::format("task {}", task));
  return names;
}

std::int64_t Babi::size(Split split) const { return static_cast<std::int64_t>(part(split).places.size()); }

std::int64_t Babi::facts_kept(std::int64_t facts) const { return memory_ > 0 ? std::min(facts, memory_) : facts; }

Example Babi::example(Split split, std::int64_t index) const {
  if (index < 0 || index >= size(split))
    throw std::out_of_range(fmt::format("bAbI: no question {}; the split has {}", index, size(split)));
  const Place place = part(split).places[static_cast<std::size_t>(index)];
  const BabiStory& story = part(split).stories[place.story];
  const BabiQuestion& question = story.questions[place.question];
  Example example;
  example.source.emplace_back(question.words.begin(), question.words.end());
  for (std::int64_t age = 1; age <= facts_kept(question.facts); ++age) {
    const Sentence& fact = story.facts[static_cast<std::size_t>(question.facts - age)];
    example.source.emplace_back(fact.begin(), fact.end());
  }
  example.answer = question.answer;
  if (is_joint()) example.group = story.task - 1;
  return example;
}

ExampleSize Babi::example_size(Split split, std::int64_t index) const {
  const Place place = part(split).places.at(static_cast<std::size_t>(index));
  const std::int64_t facts = part(split).stories[place.story].questions[place.question].facts;
  return {index, 1 + facts_kept(facts), 0, 1};
}

std::vector<std::int64_t> Babi::ids_of(const std::vector<std::string>& words) const {
  if (static_cast<std::int64_t>(words.size()) > words_per_row_)
    throw base::BadInput("'{}': {} words; a sentence of this data set has at most {}", fmt::join(words, " "),
                         words.size(), words_per_row_);
  std::vector<std::int64_t> ids;
  for (const std::string& word : words) {
    ids.push_back(vocabulary_.id(word));
    if (ids.back() < 0) throw base::BadInput("'{}': not a word of this data set", word);
  }
  return ids;
}

Example Babi::parse(const std::string& line) const {
  std::vector<std::vector<std::string>> sentences = sentences_of(line);
  std::reverse(sentences.begin(), sentences.end());  // the question, then the newest fact
  sentences.resize(static_cast<std::size_t>(1 + facts_kept(std::ssize(sentences) - 1)));
  Example example;
  for (const std::vector<std::string>& sentence : sentences) example.source.push_back(ids_of(sentence));
  return example;
}

}  // namespace ut::datasets
