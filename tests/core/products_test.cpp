// Products of matrices in any memory layout, and their gradients, against LibTorch's in float64.

#include "core/products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/parameters.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

struct Layout {
  std::string name;
  std::function<at::Tensor(const at::Tensor&)> of;  // the same numbers in this layout
};

std::vector<Layout> layouts() {
  return {{"rows", [](const at::Tensor& x) { return x.clone(); }},
          {"columns", [](const at::Tensor& x) { return x.t().clone().t(); }},
          {"some of the columns",
           [](const at::Tensor& x) {
             return at::cat({x, x}, 1).narrow(1, x.size(1), x.size(1));
           }},
          {"every second row",
           [](const at::Tensor& x) {
             return at::stack({x, x}, 1).select(1, 0);
           }},
          {"every second column", [](const at::Tensor& x) {
             return at::stack({x, x}, 2).select(2, 1);
           }}};
}

void expect_close(const at::Tensor& result, const at::Tensor& right, const std::string& what, double error = 1e-5) {
  ASSERT_EQ(result.sizes(), right.sizes()) << what;
  EXPECT_TRUE(result.to(at::kDouble).allclose(right.to(at::kDouble), error, error)) << what;
}

class Products : public testing::TestWithParam<std::vector<std::int64_t>> {
 protected:
  std::int64_t rows() const { return GetParam()[0]; }
  std::int64_t inner() const { return GetParam()[1]; }
  std::int64_t columns() const { return GetParam()[2]; }
  at::Tensor matrix(std::int64_t height, std::int64_t width, std::uint64_t seed) const {
    return random_tensor({height, width}, seed).to(at::kFloat);
  }
};

TEST_P(Products, AreTheSameForEveryMemoryLayout) {
  const at::Tensor a = matrix(rows(), inner(), 1);
  const at::Tensor b = matrix(inner(), columns(), 2);
  const at::Tensor right = at::mm(a.to(at::kDouble), b.to(at::kDouble));
  for (const Layout& left : layouts())
    for (const Layout& other : layouts())
      expect_close(product(left.of(a), other.of(b)), right, left.name + " by " + other.name);
}

TEST_P(Products, AreRightForAnExpandedScalar) {
  const at::Tensor a = at::full({}, 0.5, at::kFloat).expand({rows(), inner()});
  const at::Tensor b = matrix(inner(), columns(), 2);
  expect_close(product(a, b), at::mm(a.to(at::kDouble), b.to(at::kDouble)), "expanded");
}

/// A product that adds to its parameter's kept gradient, and LibTorch's operation for the same.
struct Use {
  std::string name;
  std::function<at::Tensor(const at::Tensor&x, const at::Tensor&w, const at::Tensor&bias)> ours, library;
  bool is_transposed = false;
};

TEST_P(Products, AddTheirGradientToTheStoredOne) {
  const base::Span some{columns() / 3, columns()};
  const std::vector<Use> uses = {
      {"all", [](auto& x, auto& w, auto&) { return multiply(x, w, at::kFloat); },
       [](auto& x, auto& w, auto&) { return at::mm(x, w); }},
      {"some columns", [&](auto& x, auto& w, auto&) { return multiply(x, w, some, at::kFloat); },
       [&](auto& x, auto& w, auto&) { return at::mm(x, w.narrow(1, some.begin, some.end - some.begin)); }},
      {"and a sum", [](auto& x, auto& w, auto& bias) { return multiply_add(bias, x, w, at::kFloat); },
       [](auto& x, auto& w, auto& bias) { return at::addmm(bias, x, w); }},
      {"transposed", [](auto& x, auto& w, auto&) { return multiply_by_transposed(x, w, at::kFloat); },
       [](auto& x, auto& w, auto&) { return at::mm(x, w.t()); }, true}};
  for (const Use& use : uses) {
    Parameters parameters(Precision::float32, 3);
    const auto [height, width] = use.is_transposed ? std::pair(columns(), inner()) : std::pair(inner(), columns());
    const at::Tensor w = parameters.add_kernel("w", {height, width}, height, width);
    const at::Tensor bias = parameters.add_normal("bias", {columns()}, 1);
    parameters.flatten();
    const at::Tensor x = matrix(rows(), inner(), 1).requires_grad_();
    const at::Tensor doubles[] = {x.detach().to(at::kDouble).requires_grad_(),
                                  w.detach().to(at::kDouble).requires_grad_(),
                                  bias.detach().to(at::kDouble).requires_grad_()};
    for (int time = 0; time < 2; ++time) {  // the gradients of both rounds are added
      const at::Tensor result = use.ours(x, w, bias);
      const at::Tensor right = use.library(doubles[0], doubles[1], doubles[2]);
      expect_close(result, right, use.name);
      const at::Tensor weight = matrix(result.size(0), result.size(1), 7);
      (result * weight).sum().backward();
      (right * weight.to(at::kDouble)).sum().backward();
    }
    expect_close(x.grad(), doubles[0].grad(), use.name + ", gradient of x");
    expect_close(w.grad(), doubles[1].grad(), use.name + ", gradient of w");
    if (doubles[2].grad().defined()) expect_close(bias.grad(), doubles[2].grad(), use.name + ", gradient of the bias");
  }
}

TEST_P(Products, AddBfloat16GradientsToTheStoredFloat32) {
  const base::Span some{columns() / 3, columns()};
  const at::Tensor bias = matrix(1, columns(), 4).squeeze(0);
  using Ours = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& w)>;
  const std::vector<std::pair<std::string, Ours>> uses = {
      {"all", [](auto& x, auto& w) { return multiply(x, w, at::kBFloat16); }},
      {"some columns", [&](auto& x, auto& w) { return multiply(x, w, some, at::kBFloat16); }},
      {"and a sum", [&](auto& x, auto& w) { return multiply_add(bias, x, w, at::kBFloat16); }},
      {"transposed", [](auto& x, auto& w) { return multiply_by_transposed(x, w, at::kBFloat16); }}};
  for (const auto& [name, ours] : uses) {
    const bool is_transposed = name == "transposed";
    const at::Tensor w = matrix(is_transposed ? columns() : inner(), is_transposed ? inner() : columns(), 3);
    const at::Tensor x = matrix(rows(), inner(), 1);
    const auto gradients = [&, &of = ours](bool is_kept) {  // two products with the same weight, as in two steps
      const at::Tensor leaves[] = {x.clone().requires_grad_(), w.clone().requires_grad_()};
      if (is_kept) {
        leaves[1].mutable_grad() = at::zeros_like(w);
        leaves[1].register_hook(
            [](const at::Tensor& gradient) { EXPECT_FALSE(gradient.defined()) << "one of its own"; });
      }
      const at::Tensor result = of(leaves[0], leaves[1]) + of(leaves[0] * 2, leaves[1]);
      (result * matrix(result.size(0), result.size(1), 7)).sum().backward();
      return std::pair(leaves[0].grad(), leaves[1].grad());
    };
    const auto [of_x, of_w] = gradients(true);
    const auto [library_of_x, library_of_w] = gradients(false);
    EXPECT_EQ(of_w.scalar_type(), at::kFloat);
    expect_close(of_x, library_of_x, name + ", gradient of x", 0.02);
    expect_close(of_w, library_of_w, name + ", gradient of w", 0.02);
  }
}

/// Sums are float32, as on a GPU: rounding them to bfloat16 would add an error of a few thousandths.
TEST_P(Products, KeepFloat32ResultsOfBfloat16Operands) {
  const auto rounded = [](const at::Tensor& x) { return x.to(at::kBFloat16).to(at::kDouble); };
  const at::Tensor w = matrix(inner(), columns(), 3).requires_grad_();
  w.mutable_grad() = at::zeros_like(w);
  const at::Tensor x = matrix(rows(), inner(), 1).requires_grad_();
  const at::Tensor result = multiply(x, w, {at::kBFloat16, at::kFloat});
  EXPECT_EQ(result.scalar_type(), at::kFloat);
  expect_close(result, at::mm(rounded(x.detach()), rounded(w.detach())), "product");
  const at::Tensor weight = matrix(rows(), columns(), 7);
  (result * weight).sum().backward();
  expect_close(x.grad(), at::mm(rounded(weight), rounded(w.detach()).t()), "gradient of x");
  expect_close(w.grad(), at::mm(rounded(x.detach()).t(), rounded(weight)), "gradient of w");
}

INSTANTIATE_TEST_SUITE_P(Sizes, Products,
                         testing::Values(std::vector<std::int64_t>{0, 8, 6}, std::vector<std::int64_t>{1, 1, 1},
                                         std::vector<std::int64_t>{1, 16, 33}, std::vector<std::int64_t>{37, 1, 5},
                                         std::vector<std::int64_t>{130, 64, 1},
                                         std::vector<std::int64_t>{67, 96, 192}));

}  // namespace
}  // namespace ut::core
