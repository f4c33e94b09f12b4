#include "launcher/bench/tensor_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>

namespace ut::launcher {
namespace {

constexpr std::int64_t elements = 1 << 16;
constexpr std::int64_t bytes = 4 * elements;
constexpr std::int64_t scalars = 4096;  // bytes that a few scalars may take

TEST(TensorMemory, CountsCurrentAndPeakBytes) {
  TensorMemory memory;
  EXPECT_EQ(memory.current(), 0);
  {
    const at::Tensor first = at::zeros({elements});
    const at::Tensor second = first + 1;
    EXPECT_EQ(memory.current(), 2 * bytes);
  }
  EXPECT_EQ(memory.current(), 0);
  EXPECT_NEAR(static_cast<double>(memory.peak()), 2 * bytes, scalars);
  const at::Tensor third = at::zeros({elements});
  memory.reset_peak();
  EXPECT_EQ(memory.peak(), bytes);
}

TEST(TensorMemory, OlderTensorsAreNotCounted) {
  std::optional<at::Tensor> older = at::zeros({elements});
  const TensorMemory memory;
  const at::Tensor newer = at::zeros({elements});
  older.reset();
  EXPECT_EQ(memory.current(), bytes);
}

TEST(TensorMemory, IgnoresTensorsThatOutlivedAnEarlierOne) {
  std::optional<at::Tensor> left;
  {
    const TensorMemory memory;
    left = at::zeros({elements});
  }
  const TensorMemory next;
  EXPECT_EQ(next.current(), 0);
}

TEST(TensorMemory, CountsABackwardPass) {
  const at::Tensor parameter = at::ones({elements}).requires_grad_();
  TensorMemory memory;
  const at::Tensor sum = (parameter * parameter.exp()).sum();
  const std::int64_t forward = memory.current();
  EXPECT_NEAR(static_cast<double>(forward), bytes, scalars);  // exp() is kept for the backward pass
  memory.reset_peak();
  sum.backward();
  EXPECT_GE(memory.peak(), forward + bytes);
  EXPECT_NEAR(static_cast<double>(memory.current()), bytes, scalars);  // the gradient; exp() was freed
}

}  // namespace
}  // namespace ut::launcher
