#include "datasets/programs.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <string_view>

#include "base/shuffle.h"

namespace ut::datasets {
namespace {

constexpr std::string_view variable_names = "abcdefghij";
constexpr std::int64_t most_variables = 10;

/// Part of a program, and its value.
struct Term {
  std::string text;
  std::int64_t value = 0;
};

std::int64_t power_of_ten(std::int64_t exponent) {
  std::int64_t power = 1;
  for (std::int64_t digit = 0; digit < exponent; ++digit) power *= 10;
  return power;
}

Term sonnet_literal(std::int64_t length, base::Random& random) {
  const std::int64_t value = random.uniform(power_of_ten(length - 1), power_of_ten(length) - 1);
  return {std::to_string(value), value};
}

/// `first` is below 10^(length + 1) in absolute value. So are the literals, and only they are compared.
Term apply(Operation operation, const Term& first, std::int64_t length, base::Random& random) {
  const Term second = sonnet_literal(length, random);
  switch (operation) {
    case Operation::add:
      return {first.text + "+" + second.text, first.value + second.value};
    case Operation::subtract:
      return {first.text + "-" + second.text, first.value - second.value};
    case Operation::multiply:
      return {first.text + "*" + second.text, first.value * second.value};
    case Operation::branch: {
      const Term third = sonnet_literal(length, random);
      const Term fourth = sonnet_literal(length, random);
      const bool greater = random.uniform(0, 1) == 1;
      const bool holds = greater ? second.value > third.value : second.value < third.value;
      return {fmt::format("{}if{}{}{}else{}", first.text, second.text, greater ? '>' : '<', third.text, fourth.text),
              holds ? first.value : fourth.value};
    }
    case Operation::loop: {
      const std::int64_t times = random.uniform(1, 9);
      return {fmt::format("x={}for[{}]x+={}", first.text, times, second.text), first.value + times * second.value};
    }
  }
  throw std::logic_error("programs: unknown operation");
}

/// Writes one program of Zaremba and Sutskever's.
class ZarembaWriter {
 public:
  ZarembaWriter(std::int64_t length, bool mix, base::Random& random)
      : length_(length), mix_(mix), random_(random), variables_(variable_names) {
    base::shuffle(variables_, random);
  }

  Program write(std::int64_t nesting) {
    for (std::int64_t done = 0; done < nesting; ++done) {
      previous_ = operation();
      started_ = true;
    }
    return {lines_ + "print(" + previous_.text + ")@", std::to_string(previous_.value)};
  }

 private:
  std::int64_t below(std::int64_t limit) { return random_.uniform(0, limit - 1); }
  std::int64_t length() { return mix_ ? random_.uniform(1, length_) : length_; }
  std::int64_t small_factor() { return random_.uniform(1, 4 * length()); }

  std::vector<Term> operands(std::int64_t count) {
    const std::int64_t place = started_ ? below(count) : count;  // of the previous result; `count`: nowhere
    std::vector<Term> terms;
    for (std::int64_t operand = 0; operand < count; ++operand) {
      const std::int64_t value = operand == place ? 0 : random_.uniform(1, power_of_ten(length()));
      terms.push_back(operand == place ? previous_ : Term{std::to_string(value), value});
    }
    return terms;
  }

  Term operation() {
    switch (below(6)) {
      case 0:
        return pair(operands(2));
      case 1:
        return small_multiplication();
      case 2:
        return operands(1).front();
      case 3:
        return variable();
      case 4:
        return loop();
      default:
        return condition();
    }
  }

  Term pair(const std::vector<Term>& terms) {
    const bool adds = below(2) == 0;
    return {fmt::format("({}{}{})", terms[0].text, adds ? '+' : '-', terms[1].text),
            adds ? terms[0].value + terms[1].value : terms[0].value - terms[1].value};
  }

  Term small_multiplication() {
    const Term term = operands(1).front();
    const std::int64_t factor = small_factor();
    return {below(2) == 0 ? fmt::format("({}*{})", term.text, factor) : fmt::format("({}*{})", factor, term.text),
            term.value * factor};
  }

  char new_variable() {
    const char name = variables_.back();
    variables_.pop_back();
    return name;
  }

  Term variable() {
    std::vector<Term> terms = operands(2);
    const char name = new_variable();
    lines_ += fmt::format("{}={};#", name, terms[0].text);
    terms[0].text = name;
    return pair(terms);
  }

  Term loop() {
    const std::vector<Term> terms = operands(2);
    const char name = new_variable();
    const std::int64_t times = small_factor();
    const bool adds = below(2) == 0;
    lines_ += fmt::format("{}={}#for x in range({}):{}{}={}#", name, terms[0].text, times, name, adds ? '+' : '-',
                          terms[1].text);
    return {std::string(1, name), terms[0].value + (adds ? times : -times) * terms[1].value};
  }

  Term condition() {
    const std::vector<Term> terms = operands(4);
    const bool greater = below(2) == 0;
    const bool holds = greater ? terms[0].value > terms[1].value : terms[0].value < terms[1].value;
    return {fmt::format("({} if {}{}{} else {})", terms[2].text, terms[0].text, greater ? '>' : '<', terms[1].text,
                        terms[3].text),
            holds ? terms[2].value : terms[3].value};
  }

  std::int64_t length_;
  bool mix_;
  base::Random& random_;
  std::string variables_;  // names that are not used yet
  std::string lines_;
  Term previous_;
  bool started_ = false;
};

}  // namespace

Program sonnet_program(const std::vector<Operation>& operations, std::int64_t length, std::int64_t nesting,
                       base::Random& random) {
  const std::int64_t modulus = power_of_ten(length + 1);
  Term term = sonnet_literal(length, random);
  for (std::int64_t done = 0; done < nesting; ++done) {
    if (done > 0) term.text = "(" + term.text + ")";
    const std::int64_t drawn = random.uniform(0, static_cast<std::int64_t>(operations.size()) - 1);
    term = apply(operations[static_cast<std::size_t>(drawn)], term, length, random);
    term.value %= modulus;
  }
  return {term.text, std::to_string((term.value + modulus) % modulus)};
}

Program zaremba_program(std::int64_t length, std::int64_t nesting, bool mix, base::Random& random) {
  return ZarembaWriter(length, mix, random).write(nesting);
}

bool zaremba_fits(std::int64_t length, std::int64_t nesting) {
  if (length > longest_literal || nesting > most_variables) return false;
  std::int64_t largest = power_of_ten(length);
  const std::int64_t growth = 4 * length + 1;  // of a loop: v += b, 4 length times
  for (std::int64_t done = 0; done < nesting; ++done) {
    if (largest > std::numeric_limits<std::int64_t>::max() / growth) return false;
    largest *= growth;
  }
  return true;
}

}  // namespace ut::datasets
