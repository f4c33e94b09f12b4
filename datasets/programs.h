#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"

namespace ut::datasets {

/// A little program and its output.
struct Program {
  std::string text;
  std::string result;
};

/// In Sonnet's programs: a+b, a-b, a*b, `aifb>celsed` (or <), which is a or d, and `x=afor[k]x+=b`, which is a + k b.
enum class Operation { add, subtract, multiply, branch, loop };

/// Most digits of a number: the product of two results then fits into a machine word.
inline constexpr std::int64_t longest_literal = 8;

/// A program of Sonnet's learning-to-execute generator: `nesting` operations drawn from `operations`. The first operand
/// of each is the result of the operation before, in brackets; every other operand is a number of exactly `length`
/// digits. A loop runs 1 to 9 times. The result is modulo 10^(length + 1), never negative. Needs length <=
/// longest_literal.
Program sonnet_program(const std::vector<Operation>& operations, std::int64_t length, std::int64_t nesting,
                       base::Random& random);

/// A program of Zaremba and Sutskever's own generator ("Learning to Execute", section 3): `nesting` operations of six
/// kinds. The operands of each are the result of the operation before, at a random place, and numbers in 1..10^length.
/// It is Python once every # is a line break and the @ at its end is taken away. With `mix` every number has a length
/// of its own, uniform in 1..length. Needs zaremba_fits(length, nesting).
Program zaremba_program(std::int64_t length, std::int64_t nesting, bool mix, base::Random& random);

/// Whether the variables of such programs suffice, and their results fit into a machine word.
bool zaremba_fits(std::int64_t length, std::int64_t nesting);

}  // namespace ut::datasets
