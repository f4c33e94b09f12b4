#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"

namespace ut::datasets {

/// A little program and what it gives.
struct Program {
  std::string text;
  std::string result;
};

/// Of Sonnet's programs: a+b, a-b, a*b, `aifb>celsed` (or <), which is a or d, and `x=afor[k]x+=b`, which is a + k b.
enum class Operation { add, subtract, multiply, branch, loop };

/// Most digits of a number: products of two results fit into a machine word.
inline constexpr std::int64_t longest_literal = 8;

/// A program of Sonnet's learning-to-execute generator: `nesting` operations drawn from `operations`, each on the
/// result of the one before, in brackets, as its first operand; every other operand is a number of exactly `length`
/// digits. A loop runs 1 to 9 times. The result is modulo 10^(length + 1), never negative. length <= longest_literal.
Program sonnet_program(const std::vector<Operation>& operations, std::int64_t length, std::int64_t nesting,
                       base::Random& random);

/// A program of Zaremba and Sutskever's own generator ("Learning to Execute", section 3): `nesting` operations of six
/// kinds, each on the result of the one before, at a random place among its operands, and on numbers in
/// 1..10^length. It is Python once every # is a line break and the @ at its end is taken away. With `mix` every number
/// is of a length of its own, uniform in 1..length. Needs zaremba_fits(length, nesting).
Program zaremba_program(std::int64_t length, std::int64_t nesting, bool mix, base::Random& random);

/// Whether such programs have variables enough and results that fit into a machine word.
bool zaremba_fits(std::int64_t length, std::int64_t nesting);

}  // namespace ut::datasets
