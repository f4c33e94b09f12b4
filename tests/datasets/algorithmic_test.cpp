#include "datasets/algorithmic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/datasets/chi_square.h"

namespace ut::datasets {
namespace {

using Kind = Algorithmic::Kind;
using Ids = std::vector<std::int64_t>;

TaskOptions small_options() {
  TaskOptions options;
  options.train_length = 10;
  options.evaluation_length = 25;
  options.train_examples = 5000;
  options.evaluation_examples = 2000;
  return options;
}

/// The ids of the source rows; checks that each row is one id.
Ids source_of(const Example& example) {
  Ids ids;
  for (const auto& row : example.source) {
    EXPECT_EQ(row.size(), 1u);
    ids.push_back(row.at(0));
  }
  return ids;
}

/// Removes the end of sequence; checks that it is there, and only at the end.
Ids without_end(Ids ids) {
  EXPECT_EQ(std::count(ids.begin(), ids.end(), end_of_sequence_id), 1);
  EXPECT_EQ(ids.back(), end_of_sequence_id);
  ids.pop_back();
  return ids;
}

bool same(const Example& a, const Example& b) { return a.source == b.source && a.target == b.target; }

class Sequences : public testing::TestWithParam<Kind> {};

TEST_P(Sequences, LengthsAndDigitsAreUniform) {
  const Algorithmic task(GetParam(), small_options());
  for (const Split split : all_splits) {
    const std::int64_t limit = split == Split::train ? 10 : 25;
    std::map<std::int64_t, std::int64_t> lengths;
    std::map<std::int64_t, std::int64_t> digits;
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const Ids ids = without_end(source_of(task.example(split, index)));
      ++lengths[std::ssize(ids)];
      for (const std::int64_t id : ids) ++digits[id];
    }
    EXPECT_EQ(lengths.begin()->first, 1);
    EXPECT_EQ(lengths.rbegin()->first, limit);
    EXPECT_LT(chi_square(lengths, limit), loose_bound(limit));
    EXPECT_EQ(digits.begin()->first, 2);
    EXPECT_EQ(digits.rbegin()->first, 11);
    EXPECT_LT(chi_square(digits, 10), loose_bound(10));
  }
}

TEST_P(Sequences, TargetIsTheSourceOrItsReverse) {
  const Algorithmic task(GetParam(), small_options());
  for (std::int64_t index = 0; index < 200; ++index) {
    const Example example = task.example(Split::test, index);
    Ids wanted = without_end(source_of(example));
    if (GetParam() == Kind::reverse) std::reverse(wanted.begin(), wanted.end());
    ASSERT_EQ(without_end(example.target), wanted);
    ASSERT_EQ(task.longest_output(example), std::ssize(example.target));
    ASSERT_LE(std::ssize(example.target), task.longest_output(task.parse("1")));
  }
  EXPECT_GT(task.longest_output(task.parse(std::string(700, '1'))), 700);
}

TEST_P(Sequences, TypedDigitsAreReadWithAndWithoutSpaces) {
  const Algorithmic task(GetParam(), small_options());
  for (const std::string line : {"1902", "1 9 0 2", " 19 02\r"}) {
    const Example example = task.parse(line);
    EXPECT_EQ(source_of(example), (Ids{3, 11, 2, 4, end_of_sequence_id})) << line;
    EXPECT_TRUE(example.target.empty());
  }
  EXPECT_EQ(task.render({3, 11, 2, 4}), "1902");
  for (const std::string line : {"", "  ", "12a", "1+2", "-1"})
    EXPECT_EQ(tests::bad_input([&] { task.parse(line); }), "'" + line + "': a line of decimal digits is needed");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Sequences, testing::Values(Kind::copy, Kind::reverse));

struct Sum {
  Ids first;
  Ids second;
  Ids total;
};

/// The digits of the three numbers, least significant first, as in the example.
Sum sum_of(const Example& example) {
  const Ids source = without_end(source_of(example));
  const auto plus = std::find(source.begin(), source.end(), 12);
  EXPECT_EQ(std::count(source.begin(), source.end(), 12), 1);
  Sum sum{Ids(source.begin(), plus), Ids(plus + 1, source.end()), without_end(example.target)};
  for (Ids* digits : {&sum.first, &sum.second, &sum.total})
    for (std::int64_t& digit : *digits) digit -= 2;
  return sum;
}

std::int64_t remainder_of(const Ids& digits, std::int64_t modulus) {
  return std::accumulate(digits.rbegin(), digits.rend(), std::int64_t{0},
                         [&](std::int64_t value, std::int64_t digit) { return (value * 10 + digit) % modulus; });
}

TEST(Addition, TargetIsTheSumByMachineArithmetic) {
  TaskOptions options = small_options();
  options.evaluation_length = 400;
  const Algorithmic task(Kind::addition, options);
  for (const Split split : all_splits) {
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const Sum sum = sum_of(task.example(split, index));
      for (const std::int64_t prime : {2147483647, 1000000007})  // sums are too long for a machine word
        ASSERT_EQ(remainder_of(sum.total, prime),
                  (remainder_of(sum.first, prime) + remainder_of(sum.second, prime)) % prime)
            << index;
      for (const std::int64_t digit : sum.total) ASSERT_TRUE(digit >= 0 && digit <= 9) << index;
      ASSERT_TRUE(sum.total.size() == 1 || sum.total.back() != 0) << index;
    }
  }
}

TEST(Addition, NumbersAreLittleEndianWithoutSuperfluousZeros) {
  const Algorithmic task(Kind::addition, small_options());
  bool zero_first = false;
  bool zero_alone = false;
  std::map<std::int64_t, std::int64_t> tops;
  std::map<std::int64_t, std::int64_t> units;
  for (std::int64_t index = 0; index < task.size(Split::train); ++index) {
    const Sum sum = sum_of(task.example(Split::train, index));
    for (const Ids& number : {sum.first, sum.second}) {
      if (number.size() == 1) {
        zero_alone = zero_alone || number[0] == 0;
        continue;
      }
      ASSERT_NE(number.back(), 0);
      zero_first = zero_first || number.front() == 0;
      ++tops[number.back()];
      ++units[number.front()];
    }
  }
  EXPECT_TRUE(zero_alone);
  EXPECT_TRUE(zero_first);
  EXPECT_LT(chi_square(tops, 9), loose_bound(9));
  EXPECT_LT(chi_square(units, 10), loose_bound(10));
}

TEST(Addition, LengthsFillTheLimit) {
  const Algorithmic task(Kind::addition, small_options());
  for (const Split split : all_splits) {
    const std::int64_t limit = split == Split::train ? 10 : 25;
    std::map<std::int64_t, std::int64_t> first_lengths;
    std::map<std::int64_t, std::int64_t> second_after_one;  // if the first number has one digit
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const Example example = task.example(split, index);
      const Sum sum = sum_of(example);
      ++first_lengths[std::ssize(sum.first)];
      if (sum.first.size() == 1) ++second_after_one[std::ssize(sum.second)];
      ASSERT_LE(std::ssize(sum.first) + 1 + std::ssize(sum.second), limit);
      ASSERT_LE(std::ssize(example.target), limit);
    }
    EXPECT_EQ(first_lengths.begin()->first, 1);
    EXPECT_EQ(first_lengths.rbegin()->first, limit / 2);
    EXPECT_LT(chi_square(first_lengths, limit / 2), loose_bound(limit / 2));
    EXPECT_EQ(second_after_one.begin()->first, 1);
    EXPECT_EQ(second_after_one.rbegin()->first, limit - 2);
    EXPECT_LT(chi_square(second_after_one, limit - 2), loose_bound(limit - 2));
  }
}

TEST(Addition, TheLongestOutputIsReached) {
  TaskOptions options = small_options();
  options.evaluation_length = 4;
  options.evaluation_examples = 20000;
  const Algorithmic task(Kind::addition, options);
  std::int64_t longest = 0;
  for (std::int64_t index = 0; index < task.size(Split::test); ++index)
    longest = std::max(longest, std::ssize(task.example(Split::test, index).target));
  EXPECT_EQ(longest, task.longest_output(task.parse("1+2")));
}

TEST(Addition, IsTypedAndShownTheWayPeopleWriteIt) {
  const Algorithmic task(Kind::addition, small_options());
  EXPECT_EQ(task.vocabulary().id("+"), 12);
  for (const std::string line : {"12+7", " 12 + 7 ", "012+07"})
    EXPECT_EQ(source_of(task.parse(line)), (Ids{4, 3, 12, 9, end_of_sequence_id})) << line;
  EXPECT_EQ(source_of(task.parse("0+00")), (Ids{2, 12, 2, end_of_sequence_id}));
  EXPECT_EQ(task.render({11, 3}), "19");
  for (const std::string line : {"", "12", "12+", "+7", "1+2+3", "1-2", "a+b"})
    EXPECT_EQ(tests::bad_input([&] { task.parse(line); }),
              "'" + line + "': a sum of two whole numbers like 12+7 is needed");
}

class AllKinds : public testing::TestWithParam<Kind> {};

TEST_P(AllKinds, AnExampleDependsOnSeedSplitAndIndexAlone) {
  const Algorithmic task(GetParam(), small_options());
  const Algorithmic again(GetParam(), small_options());
  const Example late = task.example(Split::train, 4999);
  for (std::int64_t index = 0; index < 50; ++index)
    ASSERT_TRUE(same(task.example(Split::train, index), again.example(Split::train, index)));
  EXPECT_TRUE(same(again.example(Split::train, 4999), late));

  TaskOptions more = small_options();
  more.train_examples = 6000;  // a larger set starts with the smaller one
  EXPECT_TRUE(same(Algorithmic(GetParam(), more).example(Split::train, 4999), late));
  more.seed = 2;
  EXPECT_FALSE(same(Algorithmic(GetParam(), more).example(Split::train, 4999), late));
}

TEST_P(AllKinds, SplitsAndIndicesDrawFromDifferentStreams) {
  TaskOptions options = small_options();
  options.train_length = options.evaluation_length = 400;  // so long that no two are equal by chance
  const Algorithmic task(GetParam(), options);
  std::set<Ids> long_sources;
  std::size_t drawn = 0;
  for (const Split split : all_splits) {
    for (std::int64_t index = 0; index < 300; ++index) {
      const Ids source = source_of(task.example(split, index));
      if (source.size() < 20) continue;
      long_sources.insert(source);
      ++drawn;
    }
  }
  EXPECT_GT(drawn, 600u);
  EXPECT_EQ(long_sources.size(), drawn);
}

// So short that splits cut at random would share most of their inputs.
TEST_P(AllKinds, NoInputOfSeveralSymbolsIsInTwoSplitsAndLengthsStayUniform) {
  const bool adds = GetParam() == Kind::addition;
  for (std::int64_t limit = adds ? 3 : 1; limit <= 7; ++limit) {
    SCOPED_TRACE(limit);
    TaskOptions options = small_options();
    options.train_length = options.evaluation_length = limit;
    const Algorithmic task(GetParam(), options);
    const std::int64_t most = adds ? limit / 2 : limit;  // digits in the sequence, or in the first number
    std::set<Ids> seen;
    std::size_t sum = 0;
    for (const Split split : all_splits) {
      std::set<Ids> sources;
      std::map<std::int64_t, std::int64_t> lengths;
      for (std::int64_t index = 0; index < task.size(split); ++index) {
        const Ids ids = without_end(source_of(task.example(split, index)));
        ++lengths[std::find(ids.begin(), ids.end(), 12) - ids.begin()];
        if (ids.size() > 1) sources.insert(ids);
      }
      EXPECT_EQ(lengths.begin()->first, 1);
      EXPECT_EQ(lengths.rbegin()->first, most);
      EXPECT_LT(chi_square(lengths, most), loose_bound(most));
      sum += sources.size();
      seen.merge(sources);
    }
    EXPECT_EQ(seen.size(), sum);
  }
}

TEST_P(AllKinds, OptionsOutOfRangeAreNamedAsTyped) {
  const auto message = [](std::int64_t TaskOptions::*option, std::int64_t value) {
    TaskOptions options = small_options();
    options.*option = value;
    return tests::bad_input([&] { Algorithmic(GetParam(), options); });
  };
  const std::int64_t shortest = GetParam() == Kind::addition ? 3 : 1;
  EXPECT_EQ(message(&TaskOptions::train_length, shortest), "");
  EXPECT_EQ(message(&TaskOptions::train_length, shortest - 1).find("--train-length " + std::to_string(shortest - 1)),
            0u);
  EXPECT_EQ(message(&TaskOptions::evaluation_length, shortest), "");
  EXPECT_EQ(message(&TaskOptions::evaluation_length, shortest - 1).find("--evaluation-length "), 0u);
}

TEST_P(AllKinds, ShortestLengthsWork) {
  TaskOptions options = small_options();
  options.train_length = GetParam() == Kind::addition ? 3 : 1;
  const Algorithmic task(GetParam(), options);
  for (std::int64_t index = 0; index < 100; ++index)
    ASSERT_EQ(std::ssize(task.example(Split::train, index).source), options.train_length + 1);
}

TEST_P(AllKinds, SizesAreThoseOfTheOptions) {
  const Algorithmic task(GetParam(), small_options());
  EXPECT_EQ(task.size(Split::train), 5000);
  EXPECT_EQ(task.size(Split::validation), 2000);
  EXPECT_EQ(task.size(Split::test), 2000);
  EXPECT_THROW(task.example(Split::test, 2000), std::out_of_range);
  EXPECT_THROW(task.example(Split::test, -1), std::out_of_range);
  EXPECT_TRUE(task.has_target());
  EXPECT_EQ(task.words_per_row(), 1);
  EXPECT_NE(task.description().find("5000 training examples of length up to 10"), std::string::npos);
}

using BySplit = std::map<Split, std::int64_t>;

BySplit count_splits(const std::vector<std::string>& sources) {
  BySplit counts;
  for (const std::string& source : sources) ++counts[split_of(source)];
  return counts;
}

std::vector<std::string> all_digits(int length) {
  std::vector<std::string> all = {""};
  for (int place = 0; place < length; ++place) {
    std::vector<std::string> longer;
    for (const std::string& shorter : all)
      for (char digit = '0'; digit <= '9'; ++digit) longer.push_back(shorter + digit);
    all = longer;
  }
  return all;
}

std::vector<std::string> all_sums(int first_length, int second_length) {
  std::vector<std::string> all;
  for (const std::string& first : all_digits(first_length))
    for (const std::string& second : all_digits(second_length))
      if ((first_length == 1 || first.back() != '0') && (second_length == 1 || second.back() != '0'))
        all.push_back(first + "+" + second);
  return all;
}

// If a split had no input of some length, drawing one of that length would never end.
TEST(Splits, HaveInputsOfEveryLength) {
  std::vector<std::vector<std::string>> longer;
  for (int length = 2; length <= 5; ++length) longer.push_back(all_digits(length));
  for (int first = 1; first <= 2; ++first)
    for (int second = 1; second <= 2; ++second) longer.push_back(all_sums(first, second));
  for (const std::vector<std::string>& sources : longer) {
    SCOPED_TRACE(sources.back());
    const BySplit counts = count_splits(sources);
    ASSERT_EQ(counts.size(), 3u);
    EXPECT_LT(chi_square(counts, 3), loose_bound(3));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, AllKinds, testing::Values(Kind::copy, Kind::reverse, Kind::addition));

}  // namespace
}  // namespace ut::datasets
