#include "core/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

/// Adam for one parameter by the formulas in core/optimizer.h; the decay is that of the weight before its update.
struct ScalarAdam {
  OptimizerOptions options;
  double weight = 0;
  double first = 0;
  double second = 0;

  void step(double gradient, double rate, int update) {
    first = options.beta1 * first + (1 - options.beta1) * gradient;
    second = options.beta2 * second + (1 - options.beta2) * gradient * gradient;
    const double corrected =
        rate * std::sqrt(1 - std::pow(options.beta2, update)) / (1 - std::pow(options.beta1, update));
    weight = weight - rate * options.weight_decay * weight - corrected * first / (std::sqrt(second) + options.epsilon);
  }
};

Parameters parameters_of(std::int64_t elements) {
  Parameters parameters(Precision::float64, 1);
  parameters.add_normal("weights", {elements}, 1);
  parameters.flatten();
  return parameters;
}

void expect_like_scalar_loop(const OptimizerOptions& options) {
  const std::int64_t elements = 20;
  const Parameters parameters = parameters_of(elements);
  Adam adam(options, parameters);
  std::vector<ScalarAdam> scalars;
  for (std::int64_t element = 0; element < elements; ++element)
    scalars.push_back({options, parameters.flat()[element].item<double>()});
  for (int update = 1; update <= 12; ++update) {
    const at::Tensor gradient = random_tensor({elements}, static_cast<std::uint64_t>(update)) * 3;
    const double norm = std::sqrt((gradient * gradient).sum().item<double>());
    const double shrink = options.clip_norm > 0 ? std::min(1.0, options.clip_norm / norm) : 1;
    const double rate = 0.01 * update;
    for (std::int64_t element = 0; element < elements; ++element)
      scalars[static_cast<std::size_t>(element)].step(gradient[element].item<double>() * shrink, rate, update);
    EXPECT_NEAR(adam.step(parameters.flat(), gradient, rate).item<double>(), norm, 1e-12)
        << "the norm is the one before clipping";
    EXPECT_EQ(adam.updates(), update);
  }
  for (std::int64_t element = 0; element < elements; ++element) {
    const ScalarAdam& scalar = scalars[static_cast<std::size_t>(element)];
    EXPECT_NEAR(parameters.flat()[element].item<double>(), scalar.weight, 1e-13);
    EXPECT_NEAR(adam.first_moment()[element].item<double>(), scalar.first, 1e-13);
    EXPECT_NEAR(adam.second_moment()[element].item<double>(), scalar.second, 1e-13);
  }
}

TEST(Adam, EqualsItsFormulas) { expect_like_scalar_loop({}); }

TEST(Adam, AddsEpsilonBesideTheUncorrectedRoot) {
  OptimizerOptions options;
  options.epsilon = 0.1;  // so large that its place in the formula matters
  expect_like_scalar_loop(options);
}

TEST(Adam, DecaysWeightsApartFromTheGradient) {
  OptimizerOptions options;
  options.weight_decay = 0.2;
  expect_like_scalar_loop(options);
}

TEST(Adam, CanDecayMatricesAlone) {
  Parameters parameters(Precision::float64, 1);
  parameters.add_constant("first.bias", {3}, 2);
  parameters.add_constant("first.kernel", {3, 5}, 2);
  parameters.add_constant("second.kernel", {5, 1}, 2);
  parameters.add_constant("second.bias", {1}, 2);
  parameters.add_constant("scale", {4}, 2);
  parameters.flatten();
  OptimizerOptions options;
  options.weight_decay = 0.2;
  options.decayed = DecayedParameters::matrices;
  Adam(options, parameters).step(parameters.flat(), at::zeros_like(parameters.flat()), 0.5);
  for (const Parameter& parameter : parameters.all())
    EXPECT_TRUE(parameter.tensor.allclose(
        at::full({}, parameter.tensor.dim() > 1 ? 2 - 0.5 * 0.2 * 2 : 2.0, parameter.tensor.options()), 1e-14, 0))
        << parameter.name;
}

TEST(Adam, ClipsByTheGlobalNorm) {
  for (const double clip_norm : {1.0, 7.5, 1000.0}) {  // always, sometimes, never
    OptimizerOptions options;
    options.clip_norm = clip_norm;
    expect_like_scalar_loop(options);
  }
}

TEST(Adam, TheNormOfManyElementsIsExactInFloat32) {
  Parameters parameters(Precision::float32, 1);
  parameters.add_constant("weights", {30'000'001}, 0);
  parameters.flatten();
  const at::Tensor gradient = at::rand({parameters.elements()}, at::kFloat);
  const double exact = gradient.to(at::kDouble).norm().item<double>();
  EXPECT_NEAR(Adam({}, parameters).step(parameters.flat(), gradient, 0).item<double>(), exact, 1e-6 * exact);
}

TEST(Schedule, InverseSquareRootWarmsUpThenDecays) {
  const ScheduleOptions options{ScheduleKind::inverse_square_root, 2.0, 100};
  EXPECT_EQ(learning_rate(options, 0, 1000, 64), 0);
  EXPECT_NEAR(learning_rate(options, 50, 1000, 64), 2.0 * 0.5 / 10 / 8, 1e-15);
  EXPECT_NEAR(learning_rate(options, 100, 1000, 64), 2.0 / 10 / 8, 1e-15);
  EXPECT_NEAR(learning_rate(options, 400, 1000, 64), 2.0 / 20 / 8, 1e-15);
  EXPECT_EQ(learning_rate(options, 400, 1000, 64), learning_rate(options, 400, 9, 64));
  EXPECT_NEAR(inverse_square_root_decay(4, 100), 0.1, 1e-15);
  EXPECT_NEAR(inverse_square_root_decay(2500, 100), 0.02, 1e-15);
}

TEST(Schedule, ConstantStaysAtItsRateAfterTheWarmUp) {
  const ScheduleOptions options{ScheduleKind::constant, 0.003, 10};
  for (std::int64_t update = 0; update < 30; ++update)
    EXPECT_NEAR(learning_rate(options, update, 30, 64),
                update < 10 ? 0.003 * static_cast<double>(update + 1) / 10 : 0.003, 1e-16);
}

TEST(Schedule, CosineFallsToZeroAtTheLastUpdate) {
  const ScheduleOptions options{ScheduleKind::cosine, 0.003, 10};
  EXPECT_NEAR(learning_rate(options, 4, 50, 64), 0.0015, 1e-16);
  EXPECT_NEAR(learning_rate(options, 10, 50, 64), 0.003, 1e-16);
  EXPECT_NEAR(learning_rate(options, 20, 50, 64), 0.0015 * (1 + std::cos(std::numbers::pi / 4)), 1e-16);
  EXPECT_NEAR(learning_rate(options, 30, 50, 64), 0.0015, 1e-16);
  for (const std::int64_t update : {50, 60}) EXPECT_NEAR(learning_rate(options, update, 50, 64), 0, 1e-16);
}

TEST(Schedule, StartsAtItsRateWithoutAWarmUp) {
  for (const auto kind : {ScheduleKind::constant, ScheduleKind::cosine})
    EXPECT_NEAR(learning_rate({kind, 0.5, 0}, 0, 10, 64), 0.5, 1e-15);
}

TEST(Adam, LeavesOutAnUpdateWhoseGradientIsNotFinite) {
  for (const double clip : {0.0, 1.0}) {
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      const Parameters parameters = parameters_of(8);
      OptimizerOptions options;
      options.clip_norm = clip;
      Adam adam(options, parameters);
      adam.step(parameters.flat(), random_tensor({8}, 1), 0.1);
      const at::Tensor before = parameters.flat().clone();
      const at::Tensor first = adam.first_moment().clone();
      const at::Tensor second = adam.second_moment().clone();
      at::Tensor gradient = random_tensor({8}, 2);
      gradient[3] = value;
      const at::Tensor given = gradient.clone();
      EXPECT_FALSE(std::isfinite(adam.step(parameters.flat(), gradient, 0.1).item<double>()));
      EXPECT_TRUE(parameters.flat().equal(before));
      EXPECT_TRUE(adam.first_moment().equal(first));
      EXPECT_TRUE(adam.second_moment().equal(second));
      EXPECT_EQ(gradient.isfinite().sum().item<std::int64_t>(), 7) << "it can still be seen which element it was";
      EXPECT_EQ(adam.updates(), 2);
    }
  }
}

}  // namespace
}  // namespace ut::core
