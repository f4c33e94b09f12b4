// Fused kernels must give what the library's operations give one after the other.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/kernels/add_dropped.h"
#include "core/kernels/relu_dropout.h"
#include "core/normalisation.h"
#include "tests/core/kernels/row_setting.h"
#include "tests/core/random_batch.h"
#include "tests/core/threads.h"

namespace ut::core {
namespace {

class Fused : public testing::TestWithParam<RowSetting> {
 protected:
  at::Tensor leaf(const std::vector<std::int64_t>& sizes, std::uint64_t seed) const {
    return random_tensor(sizes, seed).to(GetParam().type).requires_grad_();
  }
  /// Compares values and both gradients of `fused` and `plain`, functions of two tensors.
  template <class Fused, class Plain>
  void expect_same(const std::vector<std::int64_t>& second, const Fused& fused, const Plain& plain) const {
    const at::Tensor weight = random_tensor({rows_.count(), GetParam().columns}, 9).to(GetParam().type);
    std::vector<std::vector<at::Tensor>> results;
    for (const bool is_fused : {true, false}) {
      const at::Tensor x = leaf({rows_.count(), GetParam().columns}, 1);
      const at::Tensor y = leaf(second, 2);
      const at::Tensor result = is_fused ? at::Tensor(fused(x, y)) : at::Tensor(plain(x, y));
      (result * weight).sum().backward();
      results.push_back({result.detach(), x.grad(), y.grad()});
    }
    const double tolerance = GetParam().type == at::kDouble ? 1e-12 : 1e-5;
    for (std::size_t part = 0; part < 3; ++part)
      EXPECT_TRUE(results[0][part].allclose(results[1][part], tolerance, tolerance)) << "part " << part;
  }

  Threads threads_{4};
  dist::Rows rows_ = dist::rows_of({{4, 9}, {395, 7}}, 0, 1);  // if they are wide, more than one thread takes alone
  DropoutKey key_ = DropoutKey::for_update(3, 5).with_site(Site::transition_hidden);
};

TEST_P(Fused, ReluAndDropoutOfASum) {
  const double rate = GetParam().rate;
  expect_same(
      {GetParam().columns},
      [&](const at::Tensor& x, const at::Tensor& bias) { return relu_dropout(x * 1, bias, rate, key_, rows_); },
      [&](const at::Tensor& x, const at::Tensor& bias) { return dropout(at::relu(x + bias), rate, key_, rows_); });
}

TEST_P(Fused, SumWithDropout) {
  const double rate = GetParam().rate;
  expect_same(
      {rows_.count(), GetParam().columns},
      [&](const at::Tensor& x, const at::Tensor& y) { return add_dropped(x, y, rate, key_, rows_); },
      [&](const at::Tensor& x, const at::Tensor& y) { return x + dropout(y, rate, key_, rows_); });
}

TEST_P(Fused, NormalisedSumWithDropout) {
  const std::int64_t columns = GetParam().columns;
  Parameters parameters(GetParam().type == at::kDouble ? Precision::float64 : Precision::float32, 1);
  const LayerNorm norm(parameters, "norm", columns);
  const double rate = GetParam().rate;
  std::vector<at::Tensor> gradients;  // of scale and bias
  expect_same(
      {rows_.count(), columns},
      [&](const at::Tensor& x, const at::Tensor& y) { return norm.of_sum(x, y, rate, key_, rows_); },
      [&](const at::Tensor& x, const at::Tensor& y) {
        for (const Parameter& parameter : parameters.all()) {
          gradients.push_back(parameter.tensor.grad().clone());
          parameter.tensor.mutable_grad() = at::Tensor();
        }
        return norm(add_dropped(x, y, rate, key_, rows_));
      });
  const double tolerance = GetParam().type == at::kDouble ? 1e-12 : 1e-4;
  for (std::size_t part = 0; part < gradients.size(); ++part)
    EXPECT_TRUE(gradients[part].allclose(parameters.all()[part].tensor.grad(), tolerance, tolerance)) << part;
}

TEST(NormalisedRows, AreAccurateFarFromZero) {
  Parameters parameters(Precision::float32, 1);
  const LayerNorm norm(parameters, "norm", 64);
  const at::Tensor x = random_tensor({20, 64}, 1) + 3000;
  const at::Tensor expected = at::layer_norm(x.to(at::kFloat).to(at::kDouble), {64}, {}, {}, 1e-6);
  const dist::Rows rows = dist::rows_of({{4}, {20}}, 0, 1);
  const at::Tensor none = at::zeros({20, 64}, at::kFloat);
  EXPECT_LT((norm.of_sum(x.to(at::kFloat), none, 0, {}, rows) - expected).abs().max().item<double>(), 0.01);
}

TEST_P(Fused, EqualsPlainOperationsOutsideTraining) {
  const at::NoGradGuard no_graph;
  const at::Tensor x = random_tensor({rows_.count(), GetParam().columns}, 1).to(GetParam().type);
  const at::Tensor bias = random_tensor({GetParam().columns}, 2).to(GetParam().type);
  EXPECT_TRUE(relu_dropout(x.clone(), bias, GetParam().rate, {}, rows_).equal(at::relu(x + bias)));
  EXPECT_TRUE(add_dropped(x, x, GetParam().rate, {}, rows_).equal(x + x));
}

TEST_P(Fused, KeepsNan) {
  const at::Tensor x = at::full({rows_.count(), GetParam().columns}, NAN, GetParam().type);
  const at::Tensor bias = at::zeros({GetParam().columns}, GetParam().type);
  EXPECT_TRUE(relu_dropout(x, bias, 0, key_, rows_).isnan().all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Settings, Fused,
                         testing::Values(RowSetting{at::kFloat, 0.3, 200}, RowSetting{at::kDouble, 0.3, 200},
                                         RowSetting{at::kFloat, 0, 64}, RowSetting{at::kDouble, 0.9, 3}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
