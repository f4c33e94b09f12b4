#include "datasets/learning_to_execute.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>

#include "base/file.h"
#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/datasets/chi_square.h"
#include "tests/temporary_directory.h"

namespace ut::datasets {
namespace {

using ProgramKind = LearningToExecute::Kind;
using Counts = std::map<std::string, std::int64_t>;

constexpr ProgramKind program_kinds[] = {ProgramKind::program, ProgramKind::control_flow, ProgramKind::addition};

TaskOptions small_programs() {
  TaskOptions options;
  options.train_examples = 6000;
  options.evaluation_examples = 3000;
  return options;
}

TaskOptions zaremba_options() {
  TaskOptions options = small_programs();
  options.execute_source = ProgramSource::zaremba;
  options.execute_length = 4;
  options.execute_nesting = 3;
  return options;
}

/// An example as text; checks that each row is one character and that both sides end.
Program text_of(const LearningToExecute& task, const Example& example) {
  std::vector<std::int64_t> source;
  for (const auto& row : example.source) {
    EXPECT_EQ(row.size(), 1u);
    source.push_back(row.at(0));
  }
  std::vector<std::int64_t> target = example.target;
  for (std::vector<std::int64_t>* ids : {&source, &target}) {
    EXPECT_EQ(std::count(ids->begin(), ids->end(), end_of_sequence_id), 1);
    EXPECT_EQ(ids->back(), end_of_sequence_id);
    ids->pop_back();
  }
  return {task.render(source), task.render(target)};
}

std::vector<Program> programs(const LearningToExecute& task, Split split) {
  std::vector<Program> all;
  for (std::int64_t index = 0; index < task.size(split); ++index)
    all.push_back(text_of(task, task.example(split, index)));
  return all;
}

/// Computes Sonnet's programs from their text. Operators have no precedence; brackets alone group. Without the modulo.
class Evaluator {
 public:
  explicit Evaluator(std::string_view text) : text_(text) {}

  __extension__ typedef __int128 Number;

  Number value() {
    const Number result = expression();
    EXPECT_TRUE(text_.empty()) << text_;
    return result;
  }
  Counts operations;              // how often each occurs
  std::set<std::size_t> lengths;  // digits of its numbers, without the iterations of loops
  std::int64_t operation_count = 0;

 private:
  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  Number operand() {
    if (take("(")) {
      const Number inside = expression();
      EXPECT_TRUE(take(")"));
      return inside;
    }
    std::size_t digits = 0;
    Number number = 0;
    while (digits < text_.size() && std::isdigit(static_cast<unsigned char>(text_[digits])) != 0)
      number = 10 * number + (text_[digits++] - '0');
    EXPECT_GT(digits, 0u) << text_;
    EXPECT_NE(text_.front(), '0');
    lengths.insert(digits);
    text_.remove_prefix(digits);
    return number;
  }

  Number expression() {
    ++operation_count;
    if (take("x=")) {
      ++operations["for"];
      Number total = operand();
      EXPECT_TRUE(take("for["));
      const int times = text_.front() - '0';
      text_.remove_prefix(1);
      EXPECT_TRUE(times >= 1 && times <= 9 && take("]x+="));
      const Number step = operand();
      for (int time = 0; time < times; ++time) total += step;
      return total;
    }
    const Number first = operand();
    for (const std::string_view sign : {"+", "-", "*"}) {
      if (!take(sign)) continue;
      ++operations[std::string(sign)];
      const Number second = operand();
      return sign == "+" ? first + second : sign == "-" ? first - second : first * second;
    }
    EXPECT_TRUE(take("if")) << text_;
    ++operations["if"];
    const Number left = operand();
    const bool greater = take(">");
    EXPECT_TRUE(greater || take("<"));
    const Number right = operand();
    EXPECT_TRUE(take("else"));
    const Number other = operand();
    return (greater ? left > right : left < right) ? first : other;
  }

  std::string_view text_;
};

std::string modulo(Evaluator::Number value, std::int64_t length) {
  std::int64_t modulus = 10;
  for (std::int64_t digit = 0; digit < length; ++digit) modulus *= 10;
  return std::to_string(static_cast<std::int64_t>((value % modulus + modulus) % modulus));
}

class Sonnet : public testing::TestWithParam<ProgramKind> {
 protected:
  static Counts operations() {
    switch (GetParam()) {
      case ProgramKind::addition:
        return {{"+", 0}};
      case ProgramKind::control_flow:
        return {{"if", 0}, {"for", 0}};
      default:
        return {{"+", 0}, {"-", 0}, {"*", 0}, {"if", 0}, {"for", 0}};
    }
  }
};

TEST_P(Sonnet, TargetIsWhatTheProgramGives) {
  TaskOptions options = small_programs();
  options.execute_nesting = 3;
  const LearningToExecute task(GetParam(), options);
  for (const Split split : all_splits) {
    std::size_t longest = 0;
    for (const Program& program : programs(task, split)) {
      Evaluator evaluator(program.text);
      const auto value = evaluator.value();
      ASSERT_EQ(evaluator.lengths.size(), 1u) << program.text;
      const auto length = static_cast<std::int64_t>(*evaluator.lengths.begin());
      ASSERT_EQ(program.result, modulo(value, length)) << program.text;
      longest = std::max(longest, program.result.size());
    }
    EXPECT_EQ(static_cast<std::int64_t>(longest) + 1, task.longest_output(task.parse("1")));
  }
}

TEST_P(Sonnet, LengthsNestingAndOperationsAreUniformInTraining) {
  const LearningToExecute task(GetParam(), small_programs());
  Counts lengths;
  Counts operation_counts;
  Counts kinds;
  for (const Program& program : programs(task, Split::train)) {
    Evaluator evaluator(program.text);
    evaluator.value();
    ++lengths[std::to_string(*evaluator.lengths.begin())];
    ++operation_counts[std::to_string(evaluator.operation_count)];
    for (const auto& [operation, count] : evaluator.operations) kinds[operation] += count;
  }
  EXPECT_EQ(lengths.rbegin()->first, "5");
  EXPECT_EQ(operation_counts.rbegin()->first, "2");
  EXPECT_LT(chi_square(lengths, 5), loose_bound(5));
  EXPECT_LT(chi_square(operation_counts, 2), loose_bound(2));
  Counts none = operations();
  for (const auto& [operation, count] : kinds) ASSERT_TRUE(none.contains(operation)) << operation;
  EXPECT_LT(chi_square(kinds, std::ssize(none)), loose_bound(std::ssize(none)));
}

TEST_P(Sonnet, TestProgramsAreOfTheLargestSize) {
  const LearningToExecute task(GetParam(), small_programs());
  Counts digits;  // the last digit of a program's last number
  for (const Split split : {Split::validation, Split::test}) {
    for (const Program& program : programs(task, split)) {
      Evaluator evaluator(program.text);
      evaluator.value();
      ASSERT_EQ(evaluator.operation_count, 2) << program.text;
      ASSERT_EQ(evaluator.lengths, std::set<std::size_t>{5}) << program.text;
      ASSERT_EQ(program.text.front() == '(' || program.text.starts_with("x=("), true) << program.text;
      ++digits[program.text.substr(program.text.size() - 1)];
    }
  }
  EXPECT_LT(chi_square(digits, 10), loose_bound(10));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Sonnet, testing::ValuesIn(program_kinds));

/// Compares results with Python's; skipped without Python.
class ComparedWithPython : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3: programs are not run by it";
  }

  /// `script` reads the programs from sys.stdin, one a line, and prints the result of each.
  void expect_same(const std::vector<Program>& all, const std::string& script) const {
    std::string texts;
    std::string results;
    for (const Program& program : all) {
      texts += program.text + '\n';
      results += program.result + '\n';
    }
    directory_.write("programs", texts);
    directory_.write("script.py", script);
    const std::string command = fmt::format("python3 '{}' <'{}' >'{}'", directory_ / "script.py",
                                            directory_ / "programs", directory_ / "results");
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(base::read_file(directory_ / "results"), results);
  }

 private:
  tests::TemporaryDirectory directory_;
};

TEST_F(ComparedWithPython, SonnetsProgramsGiveTheSame) {
  const std::string script = R"python(
import re, sys
def value(text):
    loop = re.fullmatch(r"x=(-?\d+)for\[(\d)\]x\+=(\d+)", text)
    if loop: return int(loop[1]) + int(loop[2]) * int(loop[3])
    return eval(re.sub(r"(if|else)", r" \1 ", text))
for line in sys.stdin:
    text = line.strip()
    length = len(re.search(r"\d+", text)[0])
    while "(" in text:
        text = re.sub(r"\(([^()]*)\)", lambda inside: str(value(inside[1])), text)
    print(value(text) % 10 ** (length + 1))
)python";
  TaskOptions options = small_programs();
  options.execute_nesting = 4;
  for (const ProgramKind kind : program_kinds)
    expect_same(programs(LearningToExecute(kind, options), Split::train), script);
}

TEST_F(ComparedWithPython, ZarembasProgramsGiveTheSame) {
  const std::string script = R"python(
import sys
for line in sys.stdin:
    code, end = line.rstrip("\n").split("@")
    assert end == ""
    exec(code.replace("#", "\n"), {})
)python";
  const LearningToExecute task(ProgramKind::program, zaremba_options());
  for (const Split split : all_splits) expect_same(programs(task, split), script);
}

TEST(Zaremba, AllKindsOfOperationsAreEquallyFrequent) {
  TaskOptions options = zaremba_options();
  options.execute_nesting = 1;
  const LearningToExecute task(ProgramKind::program, options);
  Counts kinds;
  Counts lengths;
  Counts factors;
  for (const Program& program : programs(task, Split::test)) {
    const std::string& text = program.text;
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    const char* kind = has("for")  ? "loop"
                       : has(";")  ? "variable"
                       : has("if") ? "condition"
                       : has("*")  ? "product"
                       : has("((") ? "pair"
                                   : "plain";
    ++kinds[kind];
    if (std::string_view(kind) == "plain") ++lengths[std::to_string(program.result.size())];
    if (const auto range = text.find("range("); range != std::string::npos)
      ++factors[text.substr(range + 6, text.find(')', range) - range - 6)];
  }
  EXPECT_EQ(kinds.size(), 6u);
  EXPECT_LT(chi_square(kinds, 6), loose_bound(6));
  EXPECT_GT(lengths["4"], 300);  // nine in ten of 1..10^4 have four digits
  EXPECT_LT(lengths["1"] + lengths["2"] + lengths["3"], 110);
  EXPECT_EQ(factors.size(), 16u);
  EXPECT_LT(chi_square(factors, 16), loose_bound(16));
}

TEST(Zaremba, LengthsOfNumbersAreMixedInTraining) {
  TaskOptions options = zaremba_options();
  options.execute_nesting = 1;
  options.train_examples = 20000;
  const LearningToExecute task(ProgramKind::program, options);
  Counts lengths;
  std::int64_t loops = 0;
  std::int64_t short_loops = 0;  // loops of at most 4 iterations
  for (const Program& program : programs(task, Split::train)) {
    if (program.text == "print(" + program.result + ")@") ++lengths[std::to_string(program.result.size())];
    if (const auto range = program.text.find("range("); range != std::string::npos) {
      ++loops;
      short_loops += std::stoi(program.text.substr(range + 6)) <= 4 ? 1 : 0;
    }
  }
  ASSERT_GT(lengths["4"], 0);
  ASSERT_GT(loops, 0);
  // A number below 10^n has n digits nine times out of ten. With n uniform in 1..4 every length comes a quarter of the
  // time, the short ones a little more often.
  EXPECT_NEAR(static_cast<double>(lengths["1"]) / static_cast<double>(lengths["4"]), 1.1, 0.2);
  EXPECT_NEAR(static_cast<double>(lengths["2"]) / static_cast<double>(lengths["4"]), 1.1, 0.2);
  // A number of 1..4n is at most 4 with probability 1/n: 25/48 if n is uniform in 1..4, 12/48 if n is always 4.
  EXPECT_NEAR(static_cast<double>(short_loops) / static_cast<double>(loops), 25.0 / 48, 0.05);
}

TEST(Zaremba, ThePreviousResultIsEitherOperand) {
  TaskOptions options = zaremba_options();
  options.execute_nesting = 2;
  options.evaluation_examples = 20000;
  const LearningToExecute task(ProgramKind::program, options);
  Counts places;
  for (const Program& program : programs(task, Split::test)) {  // print(((1+2)-3))@, print((3-(1+2)))@
    const bool is_pairs = program.text.find_first_of("*=f") == std::string::npos;
    if (is_pairs && std::ranges::count(program.text, '(') == 3) ++places[program.text[7] == '(' ? "first" : "second"];
  }
  EXPECT_GT(places["second"], 100);
  EXPECT_LT(chi_square(places, 2), loose_bound(2));
}

TEST(Zaremba, SizesThatDoNotFitAreRefused) {
  const auto message = [](std::int64_t length, std::int64_t nesting) {
    TaskOptions options = zaremba_options();
    options.execute_length = length;
    options.execute_nesting = nesting;
    return tests::bad_input([&] { LearningToExecute(ProgramKind::program, options); });
  };
  EXPECT_EQ(message(8, 6), "");
  EXPECT_EQ(message(1, 10), "");
  EXPECT_NE(message(1, 11).find("more than ten variables"), std::string::npos);
  EXPECT_NE(message(8, 8).find("--execute-nesting 8: with --execute-length 8"), std::string::npos);
  TaskOptions control = zaremba_options();
  EXPECT_EQ(
      tests::bad_input([&] { LearningToExecute(ProgramKind::control_flow, control); }).find("--execute-source zaremba"),
      0u);
}

class MemorizationTasks : public testing::TestWithParam<ProgramKind> {};

TEST_P(MemorizationTasks, TargetIsTheSourceCopiedDoubledOrReversed) {
  const LearningToExecute task(GetParam(), small_programs());
  Counts lengths;
  Counts digits;
  Counts alone;
  for (const Split split : all_splits) {
    for (const Program& program : programs(task, split)) {
      std::string wanted = program.text;
      if (GetParam() == ProgramKind::doubled) wanted += program.text;
      if (GetParam() == ProgramKind::reverse) std::reverse(wanted.begin(), wanted.end());
      ASSERT_EQ(program.result, wanted);
      if (split == Split::train) {
        ++lengths[std::to_string(program.text.size())];
      } else {
        ASSERT_EQ(program.text.size(), 55u);
        ASSERT_EQ(std::ssize(program.result) + 1, task.longest_output(task.parse("1")));
      }
      for (const char digit : program.text.substr(1)) ++digits[std::string(1, digit)];
      ASSERT_NE(program.text.front(), '0');
      if (program.text.size() == 1) ++alone[program.text];
    }
  }
  EXPECT_LT(chi_square(lengths, 55), loose_bound(55));
  EXPECT_LT(chi_square(digits, 10), loose_bound(10));
  EXPECT_LT(chi_square(alone, 9), loose_bound(9)) << "of a digit alone none is kept for the other splits";
}

INSTANTIATE_TEST_SUITE_P(Kinds, MemorizationTasks,
                         testing::Values(ProgramKind::copy, ProgramKind::doubled, ProgramKind::reverse));

struct Case {
  ProgramKind kind;
  ProgramSource source;
};

class EveryProgramKind : public testing::TestWithParam<Case> {
 protected:
  static TaskOptions options() {
    TaskOptions options = small_programs();
    options.execute_source = GetParam().source;
    return options;
  }
  static LearningToExecute make(const TaskOptions& options) { return {GetParam().kind, options}; }
};

// With one-digit numbers nearly every program is drawn many times. If splits were not kept apart, all would overlap.
TEST_P(EveryProgramKind, NoProgramIsInTwoSplits) {
  TaskOptions options = EveryProgramKind::options();
  options.execute_length = options.execute_nesting = 1;
  const LearningToExecute task = make(options);
  std::set<std::string> seen;
  std::size_t sum = 0;
  for (const Split split : all_splits) {
    std::set<std::string> texts;
    for (const Program& program : programs(task, split)) texts.insert(program.text);
    EXPECT_FALSE(texts.empty());
    sum += texts.size();
    seen.merge(texts);
  }
  EXPECT_EQ(seen.size(), sum);
}

TEST_P(EveryProgramKind, AnExampleDependsOnSeedSplitAndIndexAlone) {
  const LearningToExecute task = make(options());
  const LearningToExecute again = make(options());
  const Program late = text_of(task, task.example(Split::train, 5999));
  for (std::int64_t index = 0; index < 50; ++index)
    ASSERT_EQ(task.example(Split::test, index).source, again.example(Split::test, index).source);
  EXPECT_EQ(text_of(again, again.example(Split::train, 5999)).text, late.text);
  TaskOptions other = options();
  other.seed = 2;
  std::int64_t same = 0;
  for (std::int64_t index = 0; index < 50; ++index)
    if (make(other).example(Split::test, index).source == task.example(Split::test, index).source) ++same;
  EXPECT_LT(same, 5);
}

TEST_P(EveryProgramKind, ATypedProgramIsReadAsItIsWritten) {
  const LearningToExecute task = make(options());
  const Example example = task.example(Split::test, 0);
  const std::string text = text_of(task, example).text;
  EXPECT_EQ(task.parse(text + "\r").source, example.source);
  EXPECT_TRUE(task.parse(text).target.empty());
  EXPECT_NE(tests::bad_input([&] { task.parse("1?2"); }).find("'1?2': a program of execute-"), std::string::npos);
  EXPECT_NE(tests::bad_input([&] { task.parse(""); }).find("is needed"), std::string::npos);
}

TEST_P(EveryProgramKind, OptionsOutOfRangeAreNamedAsTyped) {
  const auto message = [](std::int64_t TaskOptions::*option, std::int64_t value) {
    TaskOptions given = options();
    given.*option = value;
    return tests::bad_input([&] { make(given); });
  };
  EXPECT_EQ(message(&TaskOptions::execute_length, -1).find("--execute-length -1: out of range"), 0u);
  EXPECT_EQ(message(&TaskOptions::execute_length, 2'000'000).find("--execute-length 2000000: out of range"), 0u);
  EXPECT_THROW(make(options()).example(Split::test, 3000), std::out_of_range);
  EXPECT_THROW(make(options()).example(Split::test, -1), std::out_of_range);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryProgramKind,
                         testing::Values(Case{ProgramKind::program, ProgramSource::sonnet},
                                         Case{ProgramKind::program, ProgramSource::zaremba},
                                         Case{ProgramKind::control_flow, ProgramSource::sonnet},
                                         Case{ProgramKind::addition, ProgramSource::sonnet},
                                         Case{ProgramKind::copy, ProgramSource::sonnet},
                                         Case{ProgramKind::doubled, ProgramSource::sonnet},
                                         Case{ProgramKind::reverse, ProgramSource::sonnet}));

}  // namespace
}  // namespace ut::datasets
