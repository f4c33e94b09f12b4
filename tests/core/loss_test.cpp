#include "core/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

/// Of one row: cross entropy against the smoothed distribution, minus that distribution's entropy.
double direct(const at::Tensor& logits, std::int64_t label, double smoothing) {
  const std::int64_t symbols = logits.numel();
  const auto* score = logits.const_data_ptr<double>();
  double normaliser = 0;
  for (std::int64_t symbol = 0; symbol < symbols; ++symbol) normaliser += std::exp(score[symbol]);
  double loss = 0;
  for (std::int64_t symbol = 0; symbol < symbols; ++symbol) {
    const double wanted = symbol == label ? 1 - smoothing : smoothing / static_cast<double>(symbols - 1);
    if (wanted > 0) loss += wanted * (std::log(wanted) - score[symbol] + std::log(normaliser));
  }
  return loss;
}

TEST(Loss, IsTheDivergenceFromTheSmoothedLabels) {
  for (const std::int64_t symbols : {2, 11, 40})
    for (const double smoothing : {0.0, 0.1, 0.3}) {
      const at::Tensor logits = random_tensor({9, symbols}, 1) * 5;
      at::Tensor labels = at::arange(9).remainder(symbols);
      double expected = 0;
      for (std::int64_t row = 0; row < 9; ++row)
        expected += direct(logits[row], labels[row].item<std::int64_t>(), smoothing);
      EXPECT_NEAR(summed_cross_entropy(logits, labels, smoothing).item<double>(), expected, 1e-11)
          << symbols << " symbols, smoothing " << smoothing;
    }
}

TEST(Loss, GradientEqualsFiniteDifferences) {
  for (const double smoothing : {0.0, 0.2}) {
    const at::Tensor logits = (random_tensor({4, 7}, 1) * 3).requires_grad_();
    const at::Tensor labels = at::tensor({0, 6, 3, 3}, at::kLong);
    (summed_cross_entropy(logits.clone(), labels, smoothing) * 0.5).backward();
    constexpr double step = 1e-6;
    for (std::int64_t entry = 0; entry < logits.numel(); ++entry) {
      const auto moved = [&](double by) {
        const at::Tensor other = logits.detach().clone();
        other.view({-1})[entry].add_(by);
        return summed_cross_entropy(other, labels, smoothing).item<double>();
      };
      const double slope = 0.5 * (moved(step) - moved(-step)) / (2 * step);
      EXPECT_NEAR(logits.grad().view({-1})[entry].item<double>(), slope, 1e-8) << "entry " << entry;
    }
  }
}

// With so many symbols the rows are worked on in groups, of which the last is smaller.
TEST(Loss, GradientReachesEveryRowWithManySymbols) {
  constexpr double smoothing = 0.1;
  constexpr std::int64_t symbols = 40'000;
  const at::Tensor logits = random_tensor({9, symbols}, 1).requires_grad_();
  const at::Tensor labels = at::arange(9) * 4000;
  summed_cross_entropy(logits.clone(), labels, smoothing).backward();
  at::Tensor expected = at::softmax(logits.detach(), 1) - smoothing / static_cast<double>(symbols - 1);
  expected.scatter_add_(1, labels.unsqueeze(1),
                        at::full({9, 1}, smoothing / static_cast<double>(symbols - 1) - (1 - smoothing), at::kDouble));
  EXPECT_LT((logits.grad() - expected).abs().max().item<double>(), 1e-12);
}

TEST(Loss, MakesItsGradientInTheLogitsOwnMemory) {
  const at::Tensor leaf = random_tensor({3, 50}, 1).requires_grad_();
  const at::Tensor logits = leaf * 1;
  at::Tensor gradient;
  logits.register_hook([&](const at::Tensor& of_logits) { gradient = of_logits; });
  summed_cross_entropy(logits, at::arange(3), 0.1).backward();
  EXPECT_EQ(gradient.data_ptr(), logits.data_ptr());
}

TEST(Loss, IsZeroForAPerfectFit) {
  const std::int64_t symbols = 10;
  at::Tensor probability = at::full({1, symbols}, 0.1 / (symbols - 1), at::kDouble);
  probability[0][4] = 0.9;
  EXPECT_NEAR(summed_cross_entropy(probability.log(), at::tensor({4}, at::kLong), 0.1).item<double>(), 0, 1e-14);
}

TEST(Loss, StaysFiniteForLargeScores) {
  const at::Tensor logits = at::tensor({1e4, -1e4, 0.0}, at::kDouble).view({1, 3});
  EXPECT_NEAR(summed_cross_entropy(logits, at::tensor({1}, at::kLong), 0).item<double>(), 2e4, 1e-9);
}

TEST(Loss, IsZeroAndHasAGradientForNoRows) {
  const at::Tensor logits = at::zeros({0, 5}, at::kDouble).requires_grad_();
  const at::Tensor loss = summed_cross_entropy(logits.clone(), at::zeros({0}, at::kLong), 0.1);
  EXPECT_EQ(loss.item<double>(), 0);
  loss.backward();
  EXPECT_EQ(logits.grad().numel(), 0);
}

TEST(PonderTime, SumsTheMeansOfBothStacksOverAllRows) {
  Prediction prediction;
  EXPECT_EQ(mean_ponder_time(prediction, 3, 2).item<double>(), 0);
  prediction.encoder.cost = at::scalar_tensor(6.0, at::kDouble);
  EXPECT_DOUBLE_EQ(mean_ponder_time(prediction, 3, 2).item<double>(), 2);
  prediction.decoder.cost = at::scalar_tensor(5.0, at::kDouble);
  EXPECT_DOUBLE_EQ(mean_ponder_time(prediction, 3, 2).item<double>(), 4.5);
}

TEST(Loss, LeavesNoFiniteGradientIfNotFinite) {
  for (const float score : {2.0f, 3e38f}) {
    const at::Tensor logits = at::tensor({score, -score}).view({1, 2}).requires_grad_();
    const at::Tensor loss = summed_cross_entropy(logits.clone(), at::tensor({1}, at::kLong), 0);
    backward(loss);
    EXPECT_EQ(loss.isfinite().item<bool>(), score < 3);
    EXPECT_EQ(logits.grad().isfinite().all().item<bool>(), score < 3);
  }
}

}  // namespace
}  // namespace ut::core
