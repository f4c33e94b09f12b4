// The same curve on a GPU. Built with CUDA alone; elsewhere tests/mpi has a stand-in for the device.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/program/program.h"

namespace ut::tests {
namespace {

constexpr int updates = 20;

/// What the other programs' tests do without.
Outcome run_seeing_gpus(const std::string& command) { return run_shell("unset CUDA_VISIBLE_DEVICES; " + command); }

class Gpu : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (run_seeing_gpus("nvidia-smi -L | grep -q GPU").exit_code != 0) GTEST_SKIP() << "there is no GPU here";
  }

  std::vector<double> losses_on(const std::string& device, const std::string& more) const {
    const std::string run = directory_ / (device + (more.empty() ? "" : "-ranks"));
    const Outcome outcome = run_seeing_gpus(fmt::format(
        "{} train --task addition --train-length 9 --evaluation-length 9 --evaluation-examples 4 --d-model 16 --heads "
        "4 "
        "--ffn 32 --steps 3 --dropout 0.2 --clip-norm 1 --accumulate 2 --batch 6 --schedule constant --learning-rate "
        "0.0005 --epsilon 1e-4 --max-updates {} --log-every 1 --evaluate-every 10 --seed 3 --device {} --run-dir {} {} "
        "{}",
        std::getenv("UT"), updates, device, run, GetParam(), more));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    return losses_of(run);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_P(Gpu, LearnsAsTheCpuDoes) {
  const std::vector<double> expected = losses_on("cpu", "");
  ASSERT_EQ(expected.size(), updates);
  expect_equal_losses(expected, losses_on("cuda", ""), 1e-4);
  expect_equal_losses(expected, losses_on("cuda", "--ranks 2 --sequence-parallel 2 --share-gpus"), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, Gpu,
                         testing::Values("", "--attention-dropout 0", "--recompute step",
                                         "--variant tensor2tensor --transition separable-convolution", "--halting act",
                                         "--halting act-copy", "--halting act-copy --attention-dropout 0",
                                         "--halting act-copy --transition separable-convolution",
                                         "--exchange all-gather", "--exchange ring"),
                         [](const auto& parameter) {
                           std::string name = "Options";
                           for (const char letter : parameter.param)
                             if (std::isalnum(static_cast<unsigned char>(letter)) != 0) name += letter;
                           return name;
                         });

}  // namespace
}  // namespace ut::tests
