// Values recomputed in the backward pass must give the same gradients as kept values, up to rounding.

#include "core/recompute.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

struct RecomputeSetting {
  Halting halting;
  TransitionKind transition;
  Norm norm;
};

std::string name_of(const RecomputeSetting& setting) {
  const char* halting = setting.halting == Halting::none  ? "AllSteps"
                        : setting.halting == Halting::act ? "Act"
                                                          : "ActCopy";
  return fmt::format("{}{}{}", halting, setting.transition == TransitionKind::feed_forward ? "" : "Convolution",
                     setting.norm == Norm::pre ? "PreNorm" : "");
}

std::ostream& operator<<(std::ostream& stream, const RecomputeSetting& setting) { return stream << name_of(setting); }

class Recomputed : public testing::TestWithParam<RecomputeSetting> {};

TEST_P(Recomputed, GivesTheSameGradients) {
  ModelOptions options = small_options();
  options.halting = lively_halting(GetParam().halting, GetParam().halting);
  options.transition = GetParam().transition;
  options.norm = GetParam().norm;
  options.block_layers = 2;
  options.step_signal = StepSignal::learned;
  const auto group = dist::make_single_communicator();
  const Batch batch = make_batch(random_sequences(4, 5, 6, options), options.architecture, *group);
  std::vector<at::Tensor> gradients;
  for (const Recompute recompute : {Recompute::none, Recompute::attention, Recompute::step}) {
    options.recompute = recompute;
    UniversalTransformer model(options, 7);
    perturb_parameters(model, 7);
    loss_of(model, batch, DropoutKey::for_update(1, 2)).backward();
    gradients.push_back(model.parameters().flat_gradient().clone());
  }
  EXPECT_GT(gradients[0].abs().max().item<double>(), 1e-3);
  for (std::size_t other = 1; other < gradients.size(); ++other)
    EXPECT_LT((gradients[other] - gradients[0]).abs().max().item<double>(),
              1e-13 * gradients[0].abs().max().item<double>());
}

INSTANTIATE_TEST_SUITE_P(
    , Recomputed,
    testing::Values(RecomputeSetting{Halting::none, TransitionKind::feed_forward, Norm::post},
                    RecomputeSetting{Halting::none, TransitionKind::separable_convolution, Norm::pre},
                    RecomputeSetting{Halting::act, TransitionKind::feed_forward, Norm::pre},
                    RecomputeSetting{Halting::act_copy, TransitionKind::feed_forward, Norm::post},
                    RecomputeSetting{Halting::act_copy, TransitionKind::separable_convolution, Norm::pre}),
    [](const auto& test) { return name_of(test.param); });

TEST(RecomputedFunction, MayDependOnNoneOfItsInputs) {
  const at::Tensor x = random_tensor({3}, 1).requires_grad_();
  const at::Tensor y = recomputed({x}, [](const std::vector<at::Tensor>& in) { return at::ones_like(in[0]); });
  (x + y).sum().backward();
  EXPECT_TRUE(x.grad().equal(at::ones({3}, x.options())));
}

TEST(RecomputedFunction, IsRepeatedInTheBackwardPassAndNotBefore) {
  int done = 0;
  const at::Tensor x = random_tensor({3}, 1).requires_grad_();
  const at::Tensor y = recomputed({x}, [&done](const std::vector<at::Tensor>& in) {
    ++done;
    return in[0].exp();
  });
  EXPECT_EQ(done, 1);
  y.sum().backward();
  EXPECT_EQ(done, 2);
  EXPECT_TRUE(x.grad().allclose(x.detach().exp()));
}

}  // namespace
}  // namespace ut::core
