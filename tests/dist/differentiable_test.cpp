#include "dist/differentiable.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace ut::dist {
namespace {

TEST(Differentiable, ALongChainTakesNoStackWhenItIsFreed) {
  int called = 0;
  {
    at::Tensor x = at::ones({1}).requires_grad_();
    for (int step = 0; step < 200'000; ++step) x = call_in_backward(x, [&called] { ++called; });
    EXPECT_TRUE(x.requires_grad());
  }
  EXPECT_EQ(called, 0);
}

}  // namespace
}  // namespace ut::dist
