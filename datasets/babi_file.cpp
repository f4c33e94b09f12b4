#include "datasets/babi_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "datasets/lines.h"
#include "datasets/vocabulary.h"

namespace ut::datasets {
namespace {

constexpr std::string_view space = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

/// Reads one file, line by line.
class Reader {
 public:
  Reader(const std::string& name, AnswerCommas commas, WordTable& table)
      : name_(name), commas_(commas), table_(table) {}

  std::vector<BabiStory> read(std::string_view content) {
    for_each_line(content, [this](std::size_t number, std::string_view line) {
      line_ = static_cast<std::int64_t>(number);
      read_line(line);
    });
    const bool asked =
        std::any_of(stories_.begin(), stories_.end(), [](const auto& s) { return !s.questions.empty(); });
    if (!asked) throw base::BadInput("{}: no questions; a question is a line 'NUMBER QUESTION<tab>ANSWER'", name_);
    return std::move(stories_);
  }

 private:
  [[noreturn]] void fail(std::int64_t line, std::string_view what) const {
    throw base::BadInput("{}:{}: {}", name_, line, what);
  }

  void read_line(std::string_view line) {
    check_line(line, name_, static_cast<std::size_t>(line_));
    if (trimmed(line).empty()) {
      if (empty_line_ == 0) empty_line_ = line_;
      return;
    }
    if (empty_line_ != 0) fail(empty_line_, "empty line; only the end of the file may be empty");
    const std::string_view text = read_number(line);
    if (const std::size_t tab = text.find('\t'); tab == std::string_view::npos) {
      if (text.find('?') != std::string_view::npos)
        fail(line_, "a question without a tab; it is 'NUMBER QUESTION<tab>ANSWER'");
      stories_.back().facts.push_back(sentence(text, "statement"));
    } else {
      read_question(text.substr(0, tab), text.substr(tab + 1));
    }
  }

  /// Starts a story at number 1. Returns what follows the number.
  std::string_view read_number(std::string_view line) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc{} || (end != line.data() + line.size() && space.find(*end) == std::string_view::npos))
      fail(line_, "no line number; a line is 'NUMBER TEXT', numbered from 1 in each story");
    if (number == 1) {
      stories_.emplace_back();
    } else if (stories_.empty()) {
      fail(line_, fmt::format("number {}; the first line of a file has number 1", number));
    } else if (number != number_ + 1) {
      fail(line_, fmt::format("number {} after {}; {} would continue the story, 1 would start another", number, number_,
                              number_ + 1));
    }
    number_ = number;
    std::string_view text = line.substr(static_cast<std::size_t>(end - line.data()));
    while (text.starts_with(' ')) text.remove_prefix(1);
    return text;
  }

  void read_question(std::string_view text, std::string_view fields) {
    BabiQuestion question;
    question.words = sentence(text, "question");
    std::string answer(trimmed(fields.substr(0, fields.find('\t'))));
    if (commas_ == AnswerCommas::drop) std::erase(answer, ',');
    if (answer.empty()) fail(line_, "question without answer; it is 'NUMBER QUESTION<tab>ANSWER'");
    if (answer.find_first_of(space) != std::string::npos)
      fail(line_, fmt::format("the answer '{}' has several words; a list is joined by commas", answer));
    check_words({answer}, name_, static_cast<std::size_t>(line_));
    question.answer = table_.number(answer);
    question.facts = static_cast<std::int64_t>(stories_.back().facts.size());
    stories_.back().questions.push_back(std::move(question));
  }

  Sentence sentence(std::string_view text, std::string_view what) {
    Sentence numbers;
    for (const std::string& word : split_words(text)) numbers.push_back(table_.number(word));
    if (numbers.empty()) fail(line_, fmt::format("{} without words; a line is 'NUMBER TEXT'", what));
    return numbers;
  }

  const std::string& name_;
  AnswerCommas commas_;
  WordTable& table_;
  std::vector<BabiStory> stories_;
  std::int64_t line_ = 0;
  std::int64_t empty_line_ = 0;  // the first one; an error as soon as text follows
  std::int64_t number_ = 0;      // of the previous line
};

}  // namespace

std::vector<BabiStory> read_babi_stories(const std::string& content, const std::string& name, AnswerCommas commas,
                                         WordTable& table) {
  return Reader(name, commas, table).read(content);
}

}  // namespace ut::datasets
