#include "core/halting.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/whole_rows.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

TEST(RandomHalting, DependsOnEveryPartOfItsKey) {
  ModelOptions options = small_options();
  options.halting.kind = ActKind::random;
  Parameters parameters(Precision::float64, 1);
  const HaltingUnit unit(parameters, "halting", options);
  const auto group = dist::make_single_communicator();
  const auto exchange = dist::make_exchange({{3, 4}, {300, 300}}, *group, {});
  const auto rows = make_whole_rows(*exchange, false, nullptr, {at::kDouble, options.d_model / options.heads});
  const auto drawn = [&](const DropoutKey& key) {
    return unit.probability(at::zeros({600, options.d_model}, at::kDouble), 1, *rows->step(), key);
  };
  const std::vector<DropoutKey> keys = {
      DropoutKey::for_update(3, 5).with_step(1), DropoutKey::for_update(3, 5).with_step(2),
      DropoutKey::for_update(3, 5).with_stack(1).with_step(1), DropoutKey::for_update(3, 6).with_step(1),
      DropoutKey::for_update(4, 5).with_step(1)};
  const auto differ = [](const at::Tensor& one, const at::Tensor& other) {
    return (one - other).abs().mean().item<double>() > 0.2;  // 1/3 if they are independent
  };
  for (std::size_t one = 0; one < keys.size(); ++one) {
    const at::Tensor probability = drawn(keys[one]);
    EXPECT_TRUE(probability.equal(drawn(keys[one])));
    EXPECT_NEAR(probability.mean().item<double>(), 0.5, 0.05);
    EXPECT_TRUE(differ(probability.narrow(0, 0, 300), probability.narrow(0, 300, 300))) << "two sequences";
    for (std::size_t other = 0; other < one; ++other)
      EXPECT_TRUE(differ(probability, drawn(keys[other]))) << one << " and " << other;
  }
}

TEST(PonderingRows, GoOnAtTheThreshold) {
  HaltingOptions options;
  options.threshold = 0.75;
  const at::Tensor state = at::zeros({1, 2}, at::kDouble);
  HaltingState halting(state, options);
  for (const double probability : {0.5, 0.25}) {  // exact in binary
    halting.decide(at::full({1}, probability, at::kDouble), false);
    halting.add_to_mean(state);
    EXPECT_TRUE(halting.running().item<bool>()) << probability;
  }
  halting.decide(at::full({1}, 0x1p-20, at::kDouble), false);
  EXPECT_FALSE(halting.running().item<bool>());
}

}  // namespace
}  // namespace ut::core
