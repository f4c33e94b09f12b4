#include "core/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/universal_transformer.h"
#include "tests/core/random_batch.h"
#include "tests/core/threads.h"

namespace ut::core {
namespace {

ModelOptions options_with(Precision precision) {
  ModelOptions options = small_options();
  options.precision = precision;
  options.step_signal = StepSignal::learned;
  return options;
}

TEST(Parameters, AreTheSameFunctionOfTheSeedInEitherPrecision) {
  const UniversalTransformer narrow(options_with(Precision::float32), 5);
  const UniversalTransformer wide(options_with(Precision::float64), 5);
  EXPECT_EQ(narrow.parameters().flat().scalar_type(), at::kFloat);
  EXPECT_EQ(wide.parameters().flat().scalar_type(), at::kDouble);
  EXPECT_TRUE(narrow.parameters().flat().equal(wide.parameters().flat().to(at::kFloat)));
}

TEST(Parameters, DifferWithTheSeedAndTheName) {
  const UniversalTransformer one(small_options(), 5);
  const UniversalTransformer other(small_options(), 6);
  const auto& parameters = one.parameters().all();
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const at::Tensor& tensor = parameters[index].tensor;
    if (tensor.dim() < 2) continue;  // starts as zeros or ones
    EXPECT_TRUE(tensor.ne(other.parameters().all()[index].tensor).all().item<bool>()) << parameters[index].name;
    for (std::size_t before = 0; before < index; ++before)
      EXPECT_FALSE(parameters[before].tensor.sizes() == tensor.sizes() && tensor.equal(parameters[before].tensor))
          << parameters[index].name << " and " << parameters[before].name;
  }
}

TEST(Parameters, StartFromTheDistributionsOfTheirKind) {
  Parameters parameters(Precision::float64, 1);
  const at::Tensor kernel = parameters.add_kernel("kernel", {100, 200}, 100, 200);
  const double limit = std::sqrt(6.0 / 300);
  EXPECT_LE(kernel.abs().max().item<double>(), limit);
  EXPECT_GT(kernel.abs().max().item<double>(), 0.99 * limit);
  EXPECT_NEAR(kernel.mean().item<double>(), 0, 0.02 * limit);
  EXPECT_NEAR(kernel.var().item<double>(), limit * limit / 3, 0.03 * limit * limit / 3);
  const at::Tensor normal = parameters.add_normal("normal", {100, 200}, 0.5);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(normal.std().item<double>(), 0.5, 0.015);
  EXPECT_NEAR(normal.abs().gt(1.0).to(at::kDouble).mean().item<double>(), 0.0455, 0.008);  // two standard deviations
  EXPECT_TRUE(parameters.add_constant("constant", {3}, 1.5).eq(1.5).all().item<bool>());
}

TEST(Parameters, AreTheSameWithAnyNumberOfThreads) {
  std::vector<at::Tensor> made;
  for (const int threads : {1, 4}) {
    const Threads of_test(threads);
    made.push_back(Parameters(Precision::float64, 1).add_normal("normal", {400, 500}, 0.5));
  }
  EXPECT_TRUE(made[0].equal(made[1]));
}

TEST(Parameters, ShareMemoryWithTheFlatBuffer) {
  UniversalTransformer model(small_options(), 5);
  const at::Tensor flat = model.parameters().flat();
  std::int64_t begin = 0;
  for (const auto& [name, tensor] : model.parameters().all()) {
    EXPECT_TRUE(tensor.is_leaf() && tensor.requires_grad() && tensor.is_contiguous()) << name;
    EXPECT_EQ(tensor.const_data_ptr<double>(), flat.const_data_ptr<double>() + begin) << name;
    EXPECT_TRUE(tensor.flatten().equal(flat.narrow(0, begin, tensor.numel()))) << name;
    begin += tensor.numel();
  }
  EXPECT_EQ(begin, model.parameters().elements());
}

TEST(Parameters, GradientsLandInTheFlatBufferAndAddUp) {
  UniversalTransformer model(small_options(), 5);
  const auto group = dist::make_single_communicator();
  const Batch batch = make_batch(random_sequences(1, 3, 6, model.options()), Architecture::encoder_decoder, *group);
  const at::Tensor& flat = model.parameters().flat_gradient();
  loss_of(model, batch, {}).backward();
  const at::Tensor once = flat.clone();
  std::int64_t begin = 0;
  for (const auto& [name, tensor] : model.parameters().all()) {
    EXPECT_EQ(tensor.grad().const_data_ptr<double>(), flat.const_data_ptr<double>() + begin) << name;
    EXPECT_GT(once.narrow(0, begin, tensor.numel()).abs().max().item<double>(), 0) << name;
    begin += tensor.numel();
  }
  loss_of(model, batch, {}).backward();
  EXPECT_TRUE(flat.allclose(2 * once, 1e-12, 1e-14));
}

TEST(Parameters, ViewsOfAFlatBufferHaveTheParametersNamesAndShapes) {
  const UniversalTransformer model(small_options(), 5);
  const auto& parameters = model.parameters().all();
  const at::Tensor other = at::arange(model.parameters().elements(), at::kDouble);
  const auto views = views_of(other, parameters);
  ASSERT_EQ(views.size(), parameters.size());
  std::int64_t begin = 0;
  for (std::size_t index = 0; index < views.size(); ++index) {
    EXPECT_EQ(views[index].name, parameters[index].name);
    EXPECT_EQ(views[index].tensor.sizes(), parameters[index].tensor.sizes());
    EXPECT_EQ(views[index].tensor.const_data_ptr<double>(), other.const_data_ptr<double>() + begin);
    begin += views[index].tensor.numel();
  }
}

}  // namespace
}  // namespace ut::core
