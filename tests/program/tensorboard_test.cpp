// The event files of a run, read by TensorBoard itself.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/program/program.h"

namespace ut::tests {
namespace {

using nlohmann::json;

/// Prints all that TensorBoard reads from a directory: for each tag [step, value], or [step, limits, buckets, mean].
constexpr const char* reader = R"python(
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "histograms": 0})
events.Reload()
histogram = lambda h: [h.bucket_limit, h.bucket, h.sum / h.num]
print(json.dumps({
    "scalars": {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]},
    "histograms": {tag: [[e.step] + histogram(e.histogram_value) for e in events.Histograms(tag)]
                   for tag in events.Tags()["histograms"]}}))
)python";

class TensorBoard : public testing::Test {
 protected:
  void SetUp() override {
    if (run_shell(python_ + "-c 'import tensorboard.backend.event_processing.event_accumulator'").exit_code != 0)
      GTEST_SKIP() << "python3 has no tensorboard: event files are not read with it (./quickstart test does)";
  }
  json events() const {
    const Outcome read =
        run_shell("{} {} {}/tensorboard", python_, directory_.write("reader.py", reader).string(), run_);
    EXPECT_EQ(read.exit_code, 0) << read.errors;
    return json::parse(read.output);
  }
  /// Expects a tag to have the number `key` of every record at the record's update, and nothing else.
  void expect_curve(const json& scalars, const std::string& tag, const std::string& key) const {
    const std::vector<json> expected = records_of(run_, key);
    ASSERT_EQ(scalars.at(tag).size(), expected.size()) << tag;
    for (std::size_t index = 0; index < expected.size(); ++index) {
      EXPECT_EQ(scalars.at(tag)[index][0], expected[index].at("update"));
      const double value = expected[index].at(key).get<double>();
      EXPECT_NEAR(scalars.at(tag)[index][1].get<double>(), value, 1e-6 * std::abs(value)) << tag;
    }
  }

  TemporaryDirectory directory_;
  std::string run_ = directory_ / "run";
  std::string python_ = fmt::format("{} ", std::getenv("UT_PYTHON") ? std::getenv("UT_PYTHON") : "python3");
  std::string train_ = fmt::format(
      "train --task reverse --train-length 6 --evaluation-length 6 --evaluation-examples 10 --train-examples 100 "
      "--d-model 16 --heads 2 --ffn 32 --steps 2 --halting act --batch 8 --threads 1 --log-every 1 --evaluate-every 5 "
      "--checkpoint-every 5 --run-dir {} ",
      run_);
};

TEST_F(TensorBoard, HasTheNumbersOfMetricsJsonl) {
  ASSERT_EQ(run_ut(train_ + "--max-updates 10").exit_code, 0);
  const json seen = events();
  for (const std::string key : {"loss", "learning_rate", "gradient_norm", "rows_per_s"})
    expect_curve(seen.at("scalars"), key, key);
  expect_curve(seen.at("scalars"), "validation/validation_loss", "validation_loss");
  EXPECT_EQ(seen.at("scalars").at("validation/accuracy").size(), 2);
  EXPECT_EQ(seen.at("scalars").at("validation/ponder/encoder").size(), 2);
  auto ponder_times = records_of(run_, "ponder");
  std::erase_if(ponder_times, [](const json& record) { return record.contains("split"); });
  ASSERT_EQ(ponder_times.size(), 10);
  for (std::size_t index = 0; index < ponder_times.size(); ++index) {
    const json& expected = ponder_times[index].at("ponder").at("encoder");
    const json& histogram = seen.at("histograms").at("ponder/encoder")[index];
    EXPECT_EQ(histogram[0], ponder_times[index].at("update"));
    EXPECT_EQ(histogram[1], json({0.5, 1.5, 2.5}));
    EXPECT_EQ(histogram[2], json({0.0, expected.at("histogram")[0], expected.at("histogram")[1]}));
    EXPECT_NEAR(histogram[3].get<double>(), expected.at("mean").get<double>(), 1e-9);
    EXPECT_NEAR(seen.at("scalars").at("ponder/encoder")[index][1].get<double>(), expected.at("mean").get<double>(),
                1e-6);
  }
}

TEST_F(TensorBoard, AKilledRunGoesOnWithoutABreak) {
  EXPECT_EQ(run_shell("timeout -s KILL 4 {} {} --max-updates 1000000", std::getenv("UT"), train_).exit_code, 137);
  const auto before = records_of(run_, "loss").size();
  ASSERT_GT(before, 5);
  const Outcome resumed = run_ut("train --resume --max-updates {} --run-dir {}", before + 7, run_);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(records_of(run_, "loss").size(), before + 7);
  expect_curve(events().at("scalars"), "loss", "loss");
}

}  // namespace
}  // namespace ut::tests
