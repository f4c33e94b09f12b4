// What `ut evaluate` and `ut decode` count and choose, with a half-trained model.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "base/file.h"
#include "core/safetensors.h"
#include "tests/program/program.h"

namespace ut::tests {
namespace {

using nlohmann::json;

constexpr std::int64_t end_of_sequence = 1;

class EvaluationOfCopy : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = std::make_unique<TemporaryDirectory>();
    const Outcome trained = run_ut(
        "train --task copy --train-length 4 --evaluation-length 4 --evaluation-examples 40 --train-examples 1000 "
        "--d-model 32 --heads 2 --ffn 64 --steps 2 --norm pre --dropout 0 --label-smoothing 0 --batch 32 --threads 1 "
        "--schedule constant --learning-rate 0.005 --warmup 20 --max-updates 170 --evaluate-every 0 "
        "--checkpoint-every 50 --keep-checkpoints 4 --run-dir " +
        run());
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }
  static void TearDownTestSuite() { directory.reset(); }

  static std::string run() { return *directory / "run"; }
  static json evaluated(const std::string& options) {
    return json_of_ut("evaluate --json --run-dir " + run() + options);
  }
  static std::vector<std::string> decoded(const std::string& options) {
    const std::string lines = directory->write("lines", fmt::format("{}\n", fmt::join(inputs(), "\n"))).string();
    const Outcome outcome = run_shell("$UT decode --run-dir {} {} < {}", run(), options, lines);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    std::istringstream text(outcome.output);
    std::vector<std::string> outputs;
    for (std::string line; std::getline(text, line);) outputs.push_back(line);
    EXPECT_EQ(outputs.size(), inputs().size());
    return outputs;
  }

  /// So many that a model with few updates makes mistakes of more than one kind.
  static std::vector<std::string> inputs() {
    std::vector<std::string> lines;
    for (int number = 7; std::ssize(lines) < 40; number = number * 31 % 9973) lines.push_back(std::to_string(number));
    return lines;
  }

  static inline std::unique_ptr<TemporaryDirectory> directory;
};

TEST_F(EvaluationOfCopy, CountsSymbolsAndSequencesOfTheExportedLogits) {
  const Outcome exported = run_ut("export --run-dir {} --out {} --examples 40", run(), *directory / "model");
  ASSERT_EQ(exported.exit_code, 0) << exported.errors;
  const core::Safetensors examples = core::read_safetensors(*directory / "model/examples.safetensors");
  const at::Tensor logits = examples.at("logits");
  const at::Tensor labels = examples.at("target");
  const at::Tensor right = logits.argmax(1).eq(labels);
  const at::Tensor is_symbol = labels.ne(end_of_sequence);
  const at::Tensor offsets = examples.at("target_offsets");
  double right_sequences = 0;
  for (std::int64_t sequence = 0; sequence < 40; ++sequence)
    right_sequences +=
        right.slice(0, offsets[sequence].item<std::int64_t>(), offsets[sequence + 1].item<std::int64_t>())
            .all()
            .item<double>();
  const double accuracy = right.masked_select(is_symbol).to(at::kDouble).mean().item<double>();
  const double loss = -at::log_softmax(logits.to(at::kDouble), 1).gather(1, labels.unsqueeze(1)).mean().item<double>();
  ASSERT_GT(right_sequences, 0);
  ASSERT_LT(right_sequences, 40);
  for (const std::string ranks : {"", " --ranks 2 --sequence-parallel 2", " --ranks 2 --sequence-parallel 1"}) {
    SCOPED_TRACE(ranks);
    const json scores = evaluated(" --teacher-forced" + ranks);
    EXPECT_EQ(scores.at("sequences"), 40);
    EXPECT_NEAR(scores.at("accuracy").get<double>(), accuracy, 1e-12);
    EXPECT_NEAR(scores.at("sequence_accuracy").get<double>(), right_sequences / 40, 1e-12);
    EXPECT_NEAR(scores.at("loss").get<double>(), loss, 1e-5);
  }
}

TEST_F(EvaluationOfCopy, IsTheSameOnTwoRanksForFewerExamples) {
  const json all = evaluated(" --teacher-forced");
  const json few = evaluated(" --teacher-forced --evaluation-limit 20");
  EXPECT_EQ(few.at("sequences"), 20);
  EXPECT_EQ(few.at("evaluation_limit"), 20);
  EXPECT_NEAR(few.at("loss").get<double>(),
              evaluated(" --teacher-forced --evaluation-limit 20 --ranks 2 --sequence-parallel 1").at("loss"), 1e-6);
  EXPECT_EQ(evaluated(" --teacher-forced --evaluation-limit 1000").at("loss"), all.at("loss"));
}

TEST_F(EvaluationOfCopy, ScoresTheRequestedCheckpoint) {
  const json scores = evaluated(" --checkpoint update-50");
  EXPECT_EQ(scores.at("updates"), json({50}));
  EXPECT_LT(scores.at("accuracy"), evaluated("").at("accuracy"));
}

TEST_F(EvaluationOfCopy, AveragesTheNewestCheckpoints) {
  EXPECT_EQ(evaluated(" --average 2").at("updates"), json({170, 150}));
}

std::vector<json> lines_of(const std::string& file) {
  std::vector<json> values;
  std::istringstream lines(base::read_file(file));
  for (std::string line; std::getline(lines, line);) values.push_back(json::parse(line));
  return values;
}

/// The losses of outputs are equal but for rounding, everything else is the same.
void expect_equal_but_for_rounding(std::vector<json> found, std::vector<json> expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t index = 0; index < found.size(); ++index) {
    EXPECT_NEAR(found[index].value("loss", 0.0), expected[index].value("loss", 0.0), 1e-5);
    found[index].erase("loss");
    expected[index].erase("loss");
    EXPECT_EQ(found[index], expected[index]);
  }
}

TEST_F(EvaluationOfCopy, WritesWhatWasMadeOfEachExample) {
  const std::string file = *directory / "outputs.jsonl";
  for (const std::string how : {"", " --teacher-forced"}) {
    SCOPED_TRACE(how);
    const json scores = evaluated(how + " --outputs " + file);
    const std::vector<json> outputs = lines_of(file);
    for (const std::string ranks : {" --ranks 2 --sequence-parallel 2", " --ranks 3 --evaluation-batch 7"}) {
      evaluated(how + ranks + " --outputs " + file);
      expect_equal_but_for_rounding(lines_of(file), outputs);
    }
    int right = 0;
    int number = 0;
    double loss = 0;
    std::size_t labels = 0;
    for (json output : outputs) {
      EXPECT_EQ(output.at("number"), number);
      EXPECT_EQ(output.at("right").get<bool>(), output.at("said") == output.at("wanted"));
      json source = output.at("source");
      EXPECT_EQ(source.back(), "<EOS>");
      if (how.empty()) source.erase(source.size() - 1);
      EXPECT_EQ(output.at("wanted"), source);  // the task is to copy
      right += output.at("right").get<bool>() ? 1 : 0;
      ++number;
      loss += output.value("loss", 0.0) * static_cast<double>(output.at("wanted").size());
      labels += output.at("wanted").size();
    }
    EXPECT_EQ(number, 40);
    EXPECT_NEAR(loss / static_cast<double>(labels), scores.value("loss", 0.0), 1e-6);
    EXPECT_NEAR(scores.at("sequence_accuracy").get<double>(), right / 40.0, 1e-12);
  }
  const Outcome refused = run_ut("evaluate --run-dir {} --outputs /nowhere/outputs", run());
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.errors, "ut: --outputs /nowhere/outputs: there is no directory /nowhere\n");
}

TEST_F(EvaluationOfCopy, RecordsTheOptionsThatChangeItsExamples) {
  EXPECT_FALSE(evaluated("").contains("options"));
  EXPECT_FALSE(evaluated(" --steps 3").contains("options"));
  EXPECT_EQ(evaluated(" --evaluation-length 6").at("options"), json({{"evaluation-length", 6}}));
}

TEST_F(EvaluationOfCopy, IsKeptWithItsRunWhereThatCanBeWrittenTo) {
  std::ofstream(run() + "/evaluations.jsonl", std::ios::app) << R"({"split":"te)";  // cut short, as by a full disk
  const json printed = evaluated(" --beam 2 --ranks 2");
  std::istringstream kept(base::read_file(run() + "/evaluations.jsonl"));
  std::string last;
  for (std::string line; std::getline(kept, line);) last = line;
  EXPECT_EQ(json::parse(last), printed);

  const std::string other = *directory / "other";
  ASSERT_EQ(run_shell("cp -r {} {}; rm {}/evaluations.jsonl", run(), other, other).exit_code, 0);
  std::filesystem::create_directory(other + "/evaluations.jsonl");  // a directory, so nothing can be appended to it
  const Outcome outcome = run_ut("evaluate --run-dir {} --beam 2 --ranks 2 --json", other);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(json::parse(outcome.output), printed);
  EXPECT_THAT(outcome.errors, testing::HasSubstr("is not recorded with its run"));
}

TEST_F(EvaluationOfCopy, SearchesAsItIsTold) {
  const std::vector<std::string> greedy = decoded("--checkpoint update-50");
  EXPECT_NE(decoded("--checkpoint update-50 --beam 8 --length-penalty 0"), greedy);
  EXPECT_NE(decoded("--checkpoint update-50 --beam 8 --length-penalty 3"),
            decoded("--checkpoint update-50 --beam 8 --length-penalty 0"));
  const std::vector<std::string> short_outputs = decoded("--checkpoint update-50 --decode-extra 0");
  for (std::size_t line = 0; line < inputs().size(); ++line)
    EXPECT_LE(short_outputs[line].size(), inputs()[line].size() + 1) << inputs()[line];  // a source has an end mark
  for (const std::string beam : {"", " --beam 3"})
    EXPECT_EQ(decoded("--checkpoint update-50 --decode-extra 0 --ranks 2 --sequence-parallel 1" + beam),
              decoded("--checkpoint update-50 --decode-extra 0" + beam));
}

TEST_F(EvaluationOfCopy, TellsHowLikelyOutputsAre) {
  for (const std::string search : {"", " --beam 4"}) {
    const std::vector<std::string> plain = decoded("--checkpoint update-50" + search);
    const std::vector<std::string> lines = decoded("--json --checkpoint update-50" + search);
    const std::vector<std::string> of_two =
        decoded("--json --ranks 2 --sequence-parallel 1 --checkpoint update-50" + search);
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const json object = json::parse(lines[line]);
      EXPECT_EQ(object.at("input"), inputs()[line]);
      EXPECT_EQ(object.at("output"), plain[line]);
      EXPECT_LT(object.at("log_probability").get<double>(), 0);
      EXPECT_NEAR(object.at("log_probability").get<double>(),
                  json::parse(of_two[line]).at("log_probability").get<double>(), 1e-4);
    }
  }
}

TEST_F(EvaluationOfCopy, DecodesEachLineBeforeTheNextIsThereIfAsked) {
  const auto first = [](const std::vector<std::string>& lines) {
    return std::vector(lines.begin(), lines.begin() + 3);
  };
  const std::vector<std::string> at_once = decoded("--checkpoint update-150");
  EXPECT_EQ(decoded("--checkpoint update-150 --line-by-line"), at_once);
  const std::string script = *directory / "ask.sh";
  std::ofstream(script) << "coproc MODEL { exec $UT decode --line-by-line \"$@\"; }\n"
                           "while read -r line; do\n"
                           "  echo \"$line\" >&\"${MODEL[1]}\"\n"
                           "  read -r -t 60 answer <&\"${MODEL[0]}\" || exit 9\n"
                           "  echo \"$answer\"\n"
                           "done\n";
  for (const int ranks : {1, 2}) {
    const Outcome outcome = run_shell("printf '{}\\n12x\\n' | bash {} --run-dir {} --checkpoint update-150 --ranks {}",
                                      fmt::join(first(inputs()), "\\n"), script, run(), ranks);
    EXPECT_EQ(outcome.output, fmt::format("{}\n", fmt::join(first(at_once), "\n"))) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::HasSubstr("standard input, line 4: '12x'"));
  }
}

TEST(Evaluation, TakesSomeOfEachGroupIfLimited) {
  const TemporaryDirectory directory;
  for (const std::string facts : {"1", "2"})
    ASSERT_EQ(run_ut("data stories --facts {} --train 100 --test 100 --out {}", facts, directory / "data").exit_code,
              0);
  const std::string run = directory / "run";
  const Outcome trained = run_ut(
      "train --task babi --babi-task all --data {} --d-model 16 --heads 2 --ffn 32 --steps 1 --batch 8 --threads 1 "
      "--max-updates 1 --evaluate-every 0 --run-dir {}",
      directory / "data", run);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  const json scores = json_of_ut("evaluate --json --evaluation-limit 10 --run-dir " + run);
  for (const std::string task : {"task 1", "task 2"})
    EXPECT_EQ(scores.at("groups").at(task).at("sequences"), 5) << scores;
}

}  // namespace
}  // namespace ut::tests
