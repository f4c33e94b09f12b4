#include "base/philox.h"

#include <gtest/gtest.h>

#include <set>

namespace ut::base {
namespace {

using Words = std::array<std::uint32_t, 4>;

struct KnownAnswer {
  Words counter;
  std::uint64_t key;
  Words answer;
};

TEST(Philox, GivesItsAuthorsKnownAnswers) {
  const KnownAnswer cases[] = {
      {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       0xffffffffffffffff,
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       0x299f31d0a4093822,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& [counter, key, answer] : cases) EXPECT_EQ(philox(counter, key), answer);
}

TEST(Random, IsAFunctionOfItsKey) {
  Random one(5);
  Random same(5);
  Random other(6);
  int equal = 0;
  for (int draw = 0; draw < 100; ++draw) {
    const auto word = one.word();
    EXPECT_EQ(word, same.word());
    equal += word == other.word() ? 1 : 0;
  }
  EXPECT_LT(equal, 3);
}

TEST(Random, DrawsEveryNumberOfARangeAboutEquallyOften) {
  Random random(1);
  std::array<int, 7> drawn{};
  for (int draw = 0; draw < 70000; ++draw) ++drawn.at(static_cast<std::size_t>(random.uniform(-3, 3) + 3));
  for (const int count : drawn) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
  EXPECT_EQ(random.uniform(4, 4), 4);
}

TEST(Mix, GivesNeighboursUnrelatedWords) {
  std::set<std::uint64_t> words;
  for (std::uint64_t a = 0; a < 64; ++a)
    for (std::uint64_t b = 0; b < 64; ++b) words.insert(mix(a, b) >> 32);
  EXPECT_EQ(words.size(), 64U * 64U);
}

}  // namespace
}  // namespace ut::base
