#include "datasets/learning_to_execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "datasets/task_options.h"

namespace ut::datasets {
namespace {

using Kind = LearningToExecute::Kind;

constexpr std::int64_t papers_length = 5;                // digits of numbers in programs
constexpr std::int64_t papers_memorization_length = 55;  // digits to be copied, doubled or reversed
constexpr std::int64_t longest_memorized = 1'000'000;
constexpr std::int64_t deepest_nesting = 1000;
constexpr std::int64_t longest_word = 20;  // digits of a 64-bit number, and its sign

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::program:
      return "execute-program";
    case Kind::control_flow:
      return "execute-control";
    case Kind::addition:
      return "execute-addition";
    case Kind::copy:
      return "execute-copy";
    case Kind::doubled:
      return "execute-double";
    case Kind::reverse:
      return "execute-reverse";
  }
  throw std::logic_error("LearningToExecute: unknown kind");
}

std::string_view characters(Kind kind, bool zaremba) {
  if (zaremba) return "0123456789+-*()<>=:;#@ abcdefghijlnoprstx";
  if (kind == Kind::program) return "0123456789+-*()<>=[]efilorsx";
  if (kind == Kind::control_flow) return "0123456789+()<>=[]efilorsx";
  return kind == Kind::addition ? "0123456789+()" : "0123456789";
}

Vocabulary symbols(std::string_view characters) {
  std::vector<std::string> words;
  for (const char character : characters) words.emplace_back(1, character);
  return Vocabulary(words);
}

std::vector<Operation> operations(Kind kind) {
  if (kind == Kind::addition) return {Operation::add};
  if (kind == Kind::control_flow) return {Operation::branch, Operation::loop};
  return {Operation::add, Operation::subtract, Operation::multiply, Operation::branch, Operation::loop};
}

bool source_is_zaremba(Kind kind, ProgramSource source) {
  if (source == ProgramSource::zaremba && kind != Kind::program)
    throw base::BadInput(
        "--execute-source zaremba: makes programs with all operations, for --task execute-program; not for {}",
        name_of(kind));
  return source == ProgramSource::zaremba;
}

}  // namespace

LearningToExecute::LearningToExecute(Kind kind, const TaskOptions& options)
    : GeneratedTask(name_of(kind), symbols(characters(kind, source_is_zaremba(kind, options.execute_source))), options),
      kind_(kind),
      zaremba_(options.execute_source == ProgramSource::zaremba),
      length_(options.execute_length),
      nesting_(is_memorization() ? 1 : options.execute_nesting) {
  if (length_ == 0) length_ = is_memorization() ? papers_memorization_length : papers_length;
  check_range("--execute-length", length_, 1, is_memorization() ? longest_memorized : longest_literal);
  check_range("--execute-nesting", nesting_, 1, deepest_nesting);
  if (zaremba_ && !zaremba_fits(length_, nesting_))
    throw base::BadInput(
        "--execute-nesting {}: with --execute-length {} programs of --execute-source zaremba need more than ten "
        "variables or results of more than 64 bits; give less of one of the two",
        nesting_, length_);
}

bool LearningToExecute::is_memorization() const {
  return kind_ == Kind::copy || kind_ == Kind::doubled || kind_ == Kind::reverse;
}

std::string LearningToExecute::description() const {
  const std::string nested = is_memorization() ? "" : fmt::format(" nested {} deep", nesting_);
  return fmt::format(
      "{}: {} training examples with up to {} digits{}, {} validation and {} test examples with {}, {} symbols", name(),
      size(Split::train), length_, nested, size(Split::validation), size(Split::test), length_, vocabulary().size());
}

Program LearningToExecute::draw_program(std::int64_t length, std::int64_t nesting, bool mix,
                                        base::Random& random) const {
  if (zaremba_) return zaremba_program(length_, nesting, mix, random);
  if (!is_memorization()) return sonnet_program(operations(kind_), length, nesting, random);
  std::string digits(1, static_cast<char>('0' + random.uniform(1, 9)));
  for (std::int64_t place = 1; place < length; ++place) digits += static_cast<char>('0' + random.uniform(0, 9));
  std::string result = digits;
  if (kind_ == Kind::doubled) result += digits;
  if (kind_ == Kind::reverse) std::reverse(result.begin(), result.end());
  return {digits, result};
}

std::int64_t LearningToExecute::draw_length(Split split, base::Random& random) const {
  return split == Split::train ? random.uniform(1, length_) : length_;
}

std::optional<GeneratedTask::Lengths> LearningToExecute::draw_lengths(Split split, base::Random& random) const {
  if (!is_memorization()) return std::nullopt;
  const std::int64_t digits = draw_length(split, random);
  return Lengths{digits + 1, (kind_ == Kind::doubled ? 2 : 1) * digits + 1};
}

Example LearningToExecute::draw(Split split, base::Random& random) const {
  const bool mix = split == Split::train;
  const std::int64_t length = draw_length(split, random);
  const std::int64_t nesting = mix ? random.uniform(1, nesting_) : nesting_;
  const bool is_one_digit = is_memorization() && length == 1 && length_ > 1;  // few, and the other splits have none
  Program program = draw_program(length, nesting, mix, random);
  while (!is_one_digit && split_of(program.text) != split)
    program = draw_program(length, nesting, mix, random);  // same length, so that lengths stay uniform
  Example example;
  for (const std::int64_t id : ids_of(program.text)) example.source.push_back({id});
  example.target = ids_of(program.result);
  return example;
}

std::vector<std::int64_t> LearningToExecute::ids_of(const std::string& text) const {
  std::vector<std::int64_t> ids;
  for (const char character : text) {
    ids.push_back(vocabulary().id(std::string(1, character)));
    if (ids.back() < 0)
      throw base::BadInput("'{}': a program of {} is made of the characters {}", text, name(),
                           characters(kind_, zaremba_));
  }
  ids.push_back(end_of_sequence_id);
  return ids;
}

Example LearningToExecute::parse(const std::string& line) const {
  std::string text = line;
  std::erase_if(text, [&](char character) { return character == '\r' || (character == ' ' && !zaremba_); });
  if (text.empty()) throw base::BadInput("'{}': a program of {} is needed", line, name());
  Example example;
  for (const std::int64_t id : ids_of(text)) example.source.push_back({id});
  return example;
}

std::string LearningToExecute::render(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (const std::int64_t id : ids) text += vocabulary().symbol(id);
  return text;
}

std::int64_t LearningToExecute::longest_output(const Example& example) const {
  if (!example.target.empty()) return Task::longest_output(example);
  if (zaremba_) return longest_word + 1;
  const std::int64_t memorized = std::max(length_, std::ssize(example.source));
  if (kind_ == Kind::doubled) return 2 * memorized + 1;
  return is_memorization() ? memorized + 1 : length_ + 2;
}

}  // namespace ut::datasets
