// The same curve on a GPU as on the CPU. Built only with CUDA; tests/mpi has a stand-in device for other builds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/program/program.h"

namespace ut::tests {
namespace {

constexpr int updates = 20;
constexpr auto universal = "--d-model 16 --heads 4 --ffn 32 --steps 3 --dropout 0.2";

/// A model, and how far its losses on a GPU may differ from the CPU's.
struct Setting {
  std::string name;
  std::string options;
  double tolerance = 1e-4;
  bool sequences_are_cut = true;
  int length = 9;  // digits of its longest examples
};

std::ostream& operator<<(std::ostream& stream, const Setting& setting) { return stream << setting.name; }

/// CTest starts the tests with an empty CUDA_VISIBLE_DEVICES, which hides the GPUs.
Outcome run_seeing_gpus(const std::string& command) { return run_shell("unset CUDA_VISIBLE_DEVICES; " + command); }

class Gpu : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (run_seeing_gpus("nvidia-smi -L | grep -q GPU").exit_code != 0) GTEST_SKIP() << "there is no GPU here";
  }

  std::string run_directory(const std::string& name) const { return directory_ / name; }

  std::vector<double> losses_on(const std::string& device, const std::string& name, const std::string& mesh) const {
    const Outcome outcome = run_seeing_gpus(fmt::format(
        "{} train --task addition --train-length {} --evaluation-length {} --evaluation-examples 4 --clip-norm 1 "
        "--accumulate 2 --batch 6 --schedule constant --learning-rate 0.0005 --epsilon 1e-4 --max-updates {} "
        "--log-every 1 --evaluate-every 10 --seed 3 --threads 1 --device {} --run-dir {} {} {}",
        std::getenv("UT"), GetParam().length, GetParam().length, updates, device, run_directory(name),
        GetParam().options, mesh));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    return losses_of(run_directory(name));
  }

  /// The outputs of a run's model on `device`.
  std::string outputs_on(const std::string& device, const std::string& run) const {
    const std::string file = directory_ / ("outputs-" + device);
    const Outcome outcome = run_seeing_gpus(
        fmt::format("{} evaluate --run-dir {} --beam 2 --evaluation-examples 40 --device {} --outputs {}",
                    std::getenv("UT"), run_directory(run), device, file));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return base::read_file(file);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_P(Gpu, LearnsAndAnswersAsTheCpuDoes) {
  const auto& [name, options, tolerance, sequences_are_cut, length] = GetParam();
  const std::vector<double> expected = losses_on("cpu", "cpu", "");
  ASSERT_EQ(expected.size(), updates);
  expect_equal_losses(expected, losses_on("cuda", "cuda", ""), tolerance);
  const std::string shared = fmt::format("--ranks 2 --sequence-parallel {} --share-gpus", sequences_are_cut ? 2 : 1);
  expect_equal_losses(expected, losses_on("cuda", "staged", shared), tolerance);
  expect_equal_losses(expected, losses_on("cuda", "nccl", shared + " --communicator nccl"), tolerance);
  if (tolerance > (length > 9 ? 1e-9 : 1e-4)) return;  // rounding may make another symbol the likeliest
  EXPECT_EQ(outputs_on("cpu", "cpu"), outputs_on("cuda", "cpu"));
}

Setting universal_with(const std::string& name, const std::string& options, double tolerance = 1e-4) {
  return {name, fmt::format("{} {}", universal, options), tolerance};
}

/// In float64, so that rounding does not decide which positions halt.
Setting halting_with(const std::string& name, const std::string& options) {
  return universal_with(name, fmt::format("--precision float64 --halting-bias 0 --halting {}", options), 1e-9);
}

/// Two heads of `columns` columns, and sequences longer than one tile of attention's kernels.
Setting wide(const std::string& name, int columns, const std::string& options, double tolerance = 1e-4) {
  return {name, fmt::format("--d-model {} --heads 2 --ffn 32 --steps 3 --dropout 0.2 {}", 2 * columns, options),
          tolerance, true, 150};
}

INSTANTIATE_TEST_SUITE_P(
    Models, Gpu,
    testing::Values(universal_with("plain", ""), universal_with("float64", "--precision float64", 1e-9),
                    universal_with("bfloat16", "--precision bfloat16", 2e-2),
                    universal_with("bfloat16_whole_weights", "--precision bfloat16 --attention-dropout 0", 2e-2),
                    universal_with("whole_weights", "--attention-dropout 0"),
                    universal_with("pre_norm", "--norm pre --residual signal-in"),
                    universal_with("recomputed_steps", "--recompute step"),
                    universal_with("recomputed_attention", "--recompute attention"),
                    universal_with("convolutions", "--variant tensor2tensor --transition separable-convolution"),
                    halting_with("act", "act"), halting_with("act_copy", "act-copy"),
                    universal_with("act_copy_whole_weights", "--halting act-copy --attention-dropout 0"),
                    halting_with("act_copy_recomputed", "act-copy --recompute step"),
                    halting_with("act_copy_convolutions", "act-copy --transition separable-convolution"),
                    halting_with("act_copy_ring", "act-copy --exchange ring"),
                    universal_with("all_gather", "--exchange all-gather"), universal_with("ring", "--exchange ring"),
                    universal_with("heads", "--exchange heads"),
                    universal_with("states", "--exchange-sends states --shards zigzag"), wide("heads_of_9", 9, ""),
                    wide("heads_of_64", 64, "--exchange ring"),
                    wide("heads_of_64_bfloat16", 64, "--precision bfloat16", 2e-2),
                    wide("heads_of_48_float64", 48, "--precision float64 --halting-bias 0 --halting act-copy", 1e-9),
                    wide("heads_of_100", 100, "--exchange all-gather"), wide("heads_of_130", 130, ""),
                    Setting{"lstm", "--model lstm --d-model 16 --dropout 0.2", 1e-4, false}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace ut::tests
