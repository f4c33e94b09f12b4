#include "core/pointing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

/// Two labels. The first has the words a b a at rows 1 to 3, the second has a at row 5. Rows 0 and 4 hold no candidate.
Candidates two_labels() { return {at::tensor({1, 2, 3, 5}, at::kLong), at::tensor({0, 1, 0, 2}, at::kLong), 2}; }

TEST(Pointing, AWordsProbabilityIsTheSumOverItsPlaces) {
  const at::Tensor scores = random_tensor({6}, 1) * 3;
  const at::Tensor probability = candidate_scores(scores, two_labels(), 2).softmax(1);
  const at::Tensor of_rows = scores.narrow(0, 1, 3).softmax(0);
  EXPECT_NEAR(probability[0][0].item<double>(), (of_rows[0] + of_rows[2]).item<double>(), 1e-14);
  EXPECT_NEAR(probability[0][1].item<double>(), of_rows[1].item<double>(), 1e-14);
  EXPECT_NEAR(probability[1][0].item<double>(), 1, 1e-14);
  EXPECT_LT(probability[1][1].item<double>(), 1e-30);
}

TEST(Pointing, LargeAndSmallScoresStayFinite) {
  for (const double size : {1e4, -1e4})
    for (const auto type : {at::kFloat, at::kDouble}) {
      const at::Tensor scores = at::tensor({0.0, size, size - 1, size, 9.0, size - 500}, at::kDouble).to(type);
      const at::Tensor leaf = scores.clone().requires_grad_();
      const at::Tensor loss =
          summed_cross_entropy(candidate_scores(leaf, two_labels(), 2), at::tensor({1, 0}, at::kLong), 0);
      EXPECT_NEAR(loss.item<double>(), std::log(2 * std::exp(1.0) + 1), 1e-3);
      loss.backward();
      EXPECT_TRUE(leaf.grad().isfinite().all().item<bool>());
      EXPECT_LT(leaf.grad()[2].item<double>(), 0);
      EXPECT_EQ(leaf.grad()[0].item<double>(), 0);
    }
}

TEST(Pointing, BackwardPassWorksWithoutLabels) {
  const at::Tensor scores = at::zeros({3}, at::kDouble).requires_grad_();
  const at::Tensor none = at::empty({0}, at::kLong);
  summed_cross_entropy(candidate_scores(scores, {none, none, 1}, 0), none, 0).backward();
  EXPECT_TRUE(scores.grad().equal(at::zeros({3}, at::kDouble)));
}

}  // namespace
}  // namespace ut::core
