#include "datasets/algorithmic.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "datasets/task_options.h"

namespace ut::datasets {
namespace {

using Digits = std::vector<std::int64_t>;  // values 0..9; numbers have the least significant first
using Inputs = std::vector<Digits>;        // one sequence, or the two numbers of an addition

constexpr std::int64_t decimal_base = 10;
constexpr std::int64_t first_digit_id = 2;
constexpr std::int64_t plus_id = first_digit_id + decimal_base;
constexpr std::int64_t longest_allowed = 1'000'000;

const char* name_of(Algorithmic::Kind kind) {
  switch (kind) {
    case Algorithmic::Kind::copy:
      return "copy";
    case Algorithmic::Kind::reverse:
      return "reverse";
    case Algorithmic::Kind::addition:
      return "addition";
  }
  throw std::logic_error("Algorithmic: unknown kind");
}

Vocabulary symbols(Algorithmic::Kind kind) {
  std::vector<std::string> words;
  for (std::int64_t digit = 0; digit < decimal_base; ++digit) words.push_back(std::to_string(digit));
  if (kind == Algorithmic::Kind::addition) words.emplace_back("+");
  return Vocabulary(words);
}

Digits draw_digits(base::Random& random, std::int64_t length) {
  Digits digits(static_cast<std::size_t>(length));
  for (std::int64_t& digit : digits) digit = random.uniform(0, decimal_base - 1);
  return digits;
}

Digits draw_number(base::Random& random, std::int64_t length) {
  Digits digits = draw_digits(random, length);
  if (length > 1) digits.back() = random.uniform(1, decimal_base - 1);
  return digits;
}

Inputs draw_inputs(base::Random& random, Algorithmic::Kind kind, const std::vector<std::int64_t>& lengths) {
  Inputs inputs;
  for (const std::int64_t length : lengths)
    inputs.push_back(kind == Algorithmic::Kind::addition ? draw_number(random, length) : draw_digits(random, length));
  return inputs;
}

/// The source as text.
std::string text_of(const Inputs& inputs) {
  std::string text;
  for (const Digits& digits : inputs) {
    if (!text.empty()) text += '+';
    for (const std::int64_t digit : digits) text += static_cast<char>('0' + digit);
  }
  return text;
}

Digits sum(const Digits& first, const Digits& second) {
  Digits total;
  std::int64_t carry = 0;
  for (std::size_t place = 0; place < std::max(first.size(), second.size()); ++place) {
    if (place < first.size()) carry += first[place];
    if (place < second.size()) carry += second[place];
    total.push_back(carry % decimal_base);
    carry /= decimal_base;
  }
  if (carry > 0) total.push_back(carry);
  return total;
}

Digits result_of(Algorithmic::Kind kind, const Inputs& inputs) {
  if (kind == Algorithmic::Kind::addition) return sum(inputs.front(), inputs.back());
  Digits digits = inputs.front();
  if (kind == Algorithmic::Kind::reverse) std::reverse(digits.begin(), digits.end());
  return digits;
}

std::vector<std::int64_t> target_of(const Digits& digits) {
  std::vector<std::int64_t> ids = digits;
  for (std::int64_t& id : ids) id += first_digit_id;
  ids.push_back(end_of_sequence_id);
  return ids;
}

/// The source only.
Example example_of(const Inputs& inputs) {
  Example example;
  for (const Digits& digits : inputs) {
    if (!example.source.empty()) example.source.push_back({plus_id});
    for (const std::int64_t digit : digits) example.source.push_back({first_digit_id + digit});
  }
  example.source.push_back({end_of_sequence_id});
  return example;
}

bool is_blank(char character) { return character == ' ' || character == '\t' || character == '\r'; }

Digits read_digits(std::string_view text, std::string_view line, std::string_view wanted) {
  Digits digits;
  for (const char character : text) {
    if (is_blank(character)) continue;
    if (character < '0' || character > '9') throw base::BadInput("'{}': {} is needed", line, wanted);
    digits.push_back(character - '0');
  }
  if (digits.empty()) throw base::BadInput("'{}': {} is needed", line, wanted);
  return digits;
}

Digits read_number(std::string_view text, std::string_view line) {
  Digits digits = read_digits(text, line, "a sum of two whole numbers like 12+7");
  std::reverse(digits.begin(), digits.end());
  while (digits.size() > 1 && digits.back() == 0) digits.pop_back();
  return digits;
}

}  // namespace

Algorithmic::Algorithmic(Kind kind, const TaskOptions& options)
    : GeneratedTask(name_of(kind), symbols(kind), options), kind_(kind) {
  const std::int64_t shortest = kind == Kind::addition ? 3 : 1;  // a digit, the plus sign, a digit
  check_range("--train-length", options.train_length, shortest, longest_allowed);
  check_range("--evaluation-length", options.evaluation_length, shortest, longest_allowed);
}

std::string Algorithmic::description() const {
  return fmt::format(
      "{}: {} training examples of length up to {}, {} validation and {} test examples of length up to {}, {} symbols",
      name(), size(Split::train), limit(Split::train), size(Split::validation), size(Split::test), limit(Split::test),
      vocabulary().size());
}

std::int64_t Algorithmic::limit(Split split) const {
  return split == Split::train ? options().train_length : options().evaluation_length;
}

std::vector<std::int64_t> Algorithmic::draw_digit_counts(Split split, base::Random& random) const {
  if (kind_ != Kind::addition) return {random.uniform(1, limit(split))};
  const std::int64_t first = random.uniform(1, limit(split) / 2);
  return {first, random.uniform(1, limit(split) - first - 1)};
}

std::optional<GeneratedTask::Lengths> Algorithmic::draw_lengths(Split split, base::Random& random) const {
  if (kind_ == Kind::addition) return std::nullopt;  // a sum's length depends on its digits
  const std::int64_t symbols = draw_digit_counts(split, random).front() + 1;
  return Lengths{symbols, symbols};
}

Example Algorithmic::draw(Split split, base::Random& random) const {
  const std::vector<std::int64_t> lengths = draw_digit_counts(split, random);
  Inputs inputs = draw_inputs(random, kind_, lengths);
  const bool is_one_digit = lengths == std::vector<std::int64_t>{1};
  while (!is_one_digit && split_of(text_of(inputs)) != split) inputs = draw_inputs(random, kind_, lengths);
  Example example = example_of(inputs);
  example.target = target_of(result_of(kind_, inputs));
  return example;
}

Example Algorithmic::parse(const std::string& line) const {
  if (kind_ != Kind::addition) return example_of({read_digits(line, line, "a line of decimal digits")});
  const std::size_t plus = line.find('+');
  if (plus == std::string::npos) throw base::BadInput("'{}': a sum of two whole numbers like 12+7 is needed", line);
  const std::string_view text = line;
  return example_of({read_number(text.substr(0, plus), line), read_number(text.substr(plus + 1), line)});
}

std::string Algorithmic::render(const std::vector<std::int64_t>& ids) const {
  std::vector<std::int64_t> ordered = ids;
  if (kind_ == Kind::addition) std::reverse(ordered.begin(), ordered.end());
  std::string text;
  for (const std::int64_t id : ordered) text += vocabulary().symbol(id);
  return text;
}

std::int64_t Algorithmic::longest_output(const Example& example) const {
  if (!example.target.empty()) return Task::longest_output(example);
  const std::int64_t longest = std::max(limit(Split::test), std::ssize(example.source));
  // The longest sum has the digits of 9 + 99…9 (longest - 2 nines) and its carry.
  return kind_ == Kind::addition ? longest : longest + 1;
}

}  // namespace ut::datasets
