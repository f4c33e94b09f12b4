// Gradients of the whole model against central differences, for every kind of layer, with dropout. Dropout is a pure
// function of its key, so the loss has a derivative like any other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/model_parts.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

class Gradient : public testing::TestWithParam<ModelParts> {
 protected:
  Gradient() {
    options_.architecture = GetParam().architecture;
    options_.transition = GetParam().transition;
    options_.points = GetParam().points;
    options_.words_per_row = options_.architecture == Architecture::encoder && !options_.points ? 3 : 1;
    options_.encoder_steps = 2;
  }

  /// The loss after the parameters in `tensor` have moved by `distance` along `direction`.
  double moved_loss(const at::Tensor& tensor, const at::Tensor& direction, double distance) {
    const at::NoGradGuard no_graph;
    const at::Tensor before = tensor.clone();
    tensor.detach().add_(direction, distance);
    const double loss = loss_of(*model_, batch_, key_).item<double>();
    tensor.detach().copy_(before);
    return loss;
  }

  /// Expects the derivative along one of three directions to match the gradient. A ReLU that passes its corner, or a
  /// position that halts at another step, spoils a direction. A right gradient then matches in another direction, a
  /// wrong one in none.
  void expect_derivative(const Parameter& parameter, std::uint64_t seed) {
    if (options_.points && parameter.name == "encoder.final_norm.bias") {
      EXPECT_LT(parameter.tensor.grad().abs().max().item<double>(), 1e-14)
          << "what moves all scores alike says nothing";
      return;
    }
    testing::AssertionResult last = testing::AssertionSuccess();
    for (std::uint64_t try_number = 0; try_number < 3; ++try_number)
      if (last = derivative_is_right(parameter, seed + 1000 * try_number); last) return;
    EXPECT_TRUE(last) << parameter.name;
  }

  testing::AssertionResult derivative_is_right(const Parameter& parameter, std::uint64_t seed) {
    const at::Tensor direction = random_tensor(parameter.tensor.sizes().vec(), seed);
    const double analytic = (parameter.tensor.grad() * direction).sum().item<double>();
    constexpr double distance = 2e-7;
    const double numeric =
        (moved_loss(parameter.tensor, direction, distance) - moved_loss(parameter.tensor, direction, -distance)) /
        (2 * distance);
    constexpr double rounding = 1e-7;  // error of two losses of about 50, over the distance
    if (std::abs(analytic) < 1e-5) return testing::AssertionFailure() << analytic << " is too small to say anything";
    if (std::abs(analytic - numeric) < 1e-6 * std::abs(numeric) + rounding) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "gradient " << analytic << ", difference " << numeric;
  }

  void check(std::uint64_t seed) {
    model_.emplace(options_, seed);
    perturb_parameters(*model_, seed);
    batch_ = make_batch(random_sequences(seed, 5, 6, options_), options_.architecture, *group_, {}, options_.points);
    loss_of(*model_, batch_, key_).backward();
    for (const auto& parameter : model_->parameters().all()) expect_derivative(parameter, ++seed);
  }

  ModelOptions options_ = small_options();
  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
  DropoutKey key_ = DropoutKey::for_update(1, 2);
  std::optional<UniversalTransformer> model_;
  Batch batch_;
};

TEST_P(Gradient, EqualsCentralDifferences) {
  std::uint64_t seed = 1;
  for (const Norm norm : {Norm::post, Norm::pre})
    for (const Residual residual : {Residual::signal_out, Residual::signal_in})
      for (const StepSignal step_signal : {StepSignal::sinusoid, StepSignal::learned})
        for (const std::int64_t block_layers : {1, 2}) {
          SCOPED_TRACE(fmt::format("{}, {}, {}, {} layers", norm == Norm::post ? "post" : "pre",
                                   residual == Residual::signal_out ? "signal-out" : "signal-in",
                                   step_signal == StepSignal::sinusoid ? "sinusoid" : "learned", block_layers));
          options_.norm = norm;
          options_.residual = residual;
          options_.step_signal = step_signal;
          options_.block_layers = block_layers;
          check(100 * ++seed);
        }
}

TEST_P(Gradient, EqualsCentralDifferencesWithHalting) {
  std::uint64_t seed = 60;
  options_.encoder_steps = options_.decoder_steps = 4;
  for (const Halting halting : {Halting::act, Halting::act_copy})
    for (const ActOutput output : {ActOutput::accumulated, ActOutput::interpolated})
      for (const ActKind kind : {ActKind::basic, ActKind::global, ActKind::random})
        for (const bool paper : {true, false}) {
          SCOPED_TRACE(fmt::format("{}, {}, kind {}, {}", halting == Halting::act ? "act" : "act-copy",
                                   output == ActOutput::accumulated ? "accumulated" : "interpolated",
                                   static_cast<int>(kind), paper ? "paper" : "tensor2tensor"));
          options_.norm = paper ? Norm::post : Norm::pre;
          options_.residual = paper ? Residual::signal_out : Residual::signal_in;
          options_.step_signal = paper ? StepSignal::sinusoid : StepSignal::learned;
          options_.block_layers = paper ? 1 : 2;
          options_.halting = lively_halting(halting, halting);
          options_.halting.output = output;
          options_.halting.kind = kind;
          check(100 * ++seed);
        }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Gradient, every_model(), testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
