#include "datasets/algorithmic.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/philox.h"

namespace ut::datasets {
namespace {

using Digits = std::vector<std::int64_t>;  // values 0..9; of numbers: least significant first

constexpr std::int64_t decimal_base = 10;
constexpr std::int64_t first_digit_id = 2;
constexpr std::int64_t plus_id = first_digit_id + decimal_base;
constexpr std::int64_t longest_allowed = 1'000'000;

std::string_view name(Algorithmic::Kind kind) {
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

void append_row(Example& example, std::int64_t id) { example.source.push_back({id}); }

void append_rows(Example& example, const Digits& digits) {
  for (const std::int64_t digit : digits) append_row(example, digit + first_digit_id);
}

std::vector<std::int64_t> target_of(const Digits& digits) {
  std::vector<std::int64_t> ids = digits;
  for (std::int64_t& id : ids) id += first_digit_id;
  ids.push_back(end_of_sequence_id);
  return ids;
}

Example sequence_example(const Digits& digits) {
  Example example;
  append_rows(example, digits);
  append_row(example, end_of_sequence_id);
  return example;
}

Example addition_example(const Digits& first, const Digits& second) {
  Example example;
  append_rows(example, first);
  append_row(example, plus_id);
  append_rows(example, second);
  append_row(example, end_of_sequence_id);
  return example;
}

bool is_blank(char character) { return character == ' ' || character == '\t' || character == '\r'; }

Digits read_digits(std::string_view text, std::string_view line, std::string_view wanted) {
  Digits digits;
  for (const char character : text) {
    if (is_blank(character)) continue;
    if (character < '0' || character > '9') throw base::BadInput(fmt::format("'{}': {} is needed", line, wanted));
    digits.push_back(character - '0');
  }
  if (digits.empty()) throw base::BadInput(fmt::format("'{}': {} is needed", line, wanted));
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
    : kind_(kind), options_(options), vocabulary_(symbols(kind)) {
  const std::int64_t shortest = kind == Kind::addition ? 3 : 1;  // a digit, the plus sign, a digit
  check_range("--train-length", options.train_length, shortest, longest_allowed);
  check_range("--evaluation-length", options.evaluation_length, shortest, longest_allowed);
  check_range("--train-examples", options.train_examples, 1, INT64_MAX);
  check_range("--evaluation-examples", options.evaluation_examples, 1, INT64_MAX);
}

std::string Algorithmic::description() const {
  return fmt::format(
      "{}: {} training examples of length up to {}, {} validation and {} test examples of length up to {}, {} symbols",
      name(kind_), options_.train_examples, options_.train_length, options_.evaluation_examples,
      options_.evaluation_examples, options_.evaluation_length, vocabulary_.size());
}

std::int64_t Algorithmic::size(Split split) const {
  return split == Split::train ? options_.train_examples : options_.evaluation_examples;
}

std::int64_t Algorithmic::limit(Split split) const {
  return split == Split::train ? options_.train_length : options_.evaluation_length;
}

Example Algorithmic::example(Split split, std::int64_t index) const {
  if (index < 0 || index >= size(split))
    throw std::out_of_range(fmt::format("{}: no example {}; the split has {}", name(kind_), index, size(split)));
  base::Random random(
      base::mix(base::mix(options_.seed, static_cast<std::uint64_t>(split)), static_cast<std::uint64_t>(index)));
  if (kind_ == Kind::addition) {
    const std::int64_t first_length = random.uniform(1, limit(split) / 2);
    const std::int64_t second_length = random.uniform(1, limit(split) - first_length - 1);
    const Digits first = draw_number(random, first_length);
    const Digits second = draw_number(random, second_length);
    Example example = addition_example(first, second);
    example.target = target_of(sum(first, second));
    return example;
  }
  Digits digits = draw_digits(random, random.uniform(1, limit(split)));
  Example example = sequence_example(digits);
  if (kind_ == Kind::reverse) std::reverse(digits.begin(), digits.end());
  example.target = target_of(digits);
  return example;
}

std::int64_t Algorithmic::longest_target(Split split) const {
  // The longest sum has the digits of 9 + 99…9 (limit - 2 nines) and its carry.
  return kind_ == Kind::addition ? limit(split) : limit(split) + 1;
}

Example Algorithmic::parse(const std::string& line) const {
  if (kind_ != Kind::addition) return sequence_example(read_digits(line, line, "a line of decimal digits"));
  const std::size_t plus = line.find('+');
  if (plus == std::string::npos)
    throw base::BadInput(fmt::format("'{}': a sum of two whole numbers like 12+7 is needed", line));
  const std::string_view text = line;
  return addition_example(read_number(text.substr(0, plus), line), read_number(text.substr(plus + 1), line));
}

std::string Algorithmic::render(const std::vector<std::int64_t>& ids) const {
  std::vector<std::int64_t> ordered = ids;
  if (kind_ == Kind::addition) std::reverse(ordered.begin(), ordered.end());
  std::string text;
  for (const std::int64_t id : ordered) text += vocabulary_.symbol(id);
  return text;
}

}  // namespace ut::datasets
