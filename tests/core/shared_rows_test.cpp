#include "core/shared_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/recompute.h"

namespace ut::core {
namespace {

/// The gradient of shared rows after steps with these gradients, each one number for all elements.
at::Tensor gradient_over_steps(at::ScalarType type, const std::vector<double>& gradients, bool recomputes) {
  const at::Tensor rows = at::ones({3, 2}, type).requires_grad_();
  const SharedRows shared({rows});
  at::Tensor sum = at::zeros({});
  for (const double gradient : gradients) {
    const auto step = [&shared, gradient, type](const std::vector<at::Tensor>& inputs) {
      const at::Tensor taken = shared.rows_for(inputs).front();
      EXPECT_EQ(taken.scalar_type(), type);
      return taken.sum() * gradient;
    };
    sum = sum + (recomputes ? recomputed(shared.inputs(), step) : step(shared.inputs()));
  }
  sum.backward();
  EXPECT_EQ(rows.grad().scalar_type(), type);
  return rows.grad().to(at::kDouble);
}

/// 1/512 is a quarter of bfloat16's last bit at 1, so adding it to 1 in bfloat16 would lose it every time.
TEST(SharedRows, AddTheGradientsOfAllStepsInFloat32) {
  std::vector<double> gradients(66, 1.0 / 512);
  gradients.front() = gradients.back() = 1;
  for (const bool recomputes : {false, true})
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
      EXPECT_TRUE(gradient_over_steps(type, gradients, recomputes).equal(at::full({3, 2}, 2.125, at::kDouble)))
          << type << (recomputes ? ", made again" : "");
}

}  // namespace
}  // namespace ut::core
