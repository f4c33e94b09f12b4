#include "dist/split_gather.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "dist/differentiable.h"

namespace ut::dist {
namespace {

using ::testing::ElementsAre;

struct SplitGathered : ::testing::Test {
  /// `x` plus one; its backward pass appends `name` to `events`.
  at::Tensor work(const at::Tensor& x, const std::string& name) {
    return differentiable(
        x, [](const at::Tensor& values) { return values + 1; },
        [this, name](const at::Tensor& gradient) {
          events.push_back(name);
          return gradient;
        });
  }

  std::vector<std::string> events;
  at::Tensor rows = at::ones({2, 3}, at::kFloat).requires_grad_();
};

TEST_F(SplitGathered, OverlapsTheSameWorkInTheBackwardPass) {
  const at::Tensor sent = work(rows, "what is sent");
  const SplitGather gather(sent);
  const at::Tensor meanwhile = work(rows, "meanwhile");
  const at::Tensor come = gather.arrive(at::full({2, 3}, 5.0F), [this](const at::Tensor& gradient) -> PendingTensor {
    events.emplace_back("leaves");
    return [this, gradient] {
      events.emplace_back("is waited for");
      return gradient * 10;
    };
  });
  work(come * 2 + meanwhile, "what uses it").sum().backward();
  EXPECT_THAT(events, ElementsAre("what uses it", "leaves", "meanwhile", "is waited for", "what is sent"));
  EXPECT_TRUE(rows.grad().equal(at::full({2, 3}, 2 * 10 + 1.0F)));
}

TEST_F(SplitGathered, AddsTheGradientsOfAllArrivals) {
  const at::Tensor half = at::ones({2, 3}, at::kBFloat16).requires_grad_();
  const SplitGather gather(half);
  const auto send_back = [](const at::Tensor& gradient) -> PendingTensor {
    EXPECT_EQ(gradient.scalar_type(), at::kBFloat16) << "twice the bytes say no more";
    return [gradient] { return gradient; };
  };
  const auto come = [&] { return gather.arrive(at::zeros({2, 3}, at::kBFloat16), send_back); };
  const at::Tensor first = come();
  const at::Tensor second = come();
  const at::Tensor third = come();
  (first + second + third * 256).sum().backward();
  EXPECT_TRUE(half.grad().equal(at::full({2, 3}, 258, at::kBFloat16))) << "in bfloat16 256 + 1 is 256";
}

}  // namespace
}  // namespace ut::dist
