// Gradients of the whole model against central differences, for every kind of layer, with dropout on: it is a pure
// function of its key, so that a loss with dropout has a derivative like any other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

struct Kind {
  Architecture architecture;
  TransitionKind transition;
};

std::string name_of(const Kind& kind) {
  return fmt::format("{}With{}", kind.architecture == Architecture::encoder ? "Encoder" : "EncoderDecoder",
                     kind.transition == TransitionKind::feed_forward ? "FeedForward" : "Convolution");
}

std::ostream& operator<<(std::ostream& stream, const Kind& kind) { return stream << name_of(kind); }

class Gradient : public testing::TestWithParam<Kind> {
 protected:
  Gradient() {
    options_.architecture = GetParam().architecture;
    options_.transition = GetParam().transition;
    options_.words_per_row = options_.architecture == Architecture::encoder ? 3 : 1;
    options_.encoder_steps = 2;
  }

  /// The loss where the parameters in `tensor` have moved by `distance` along `direction`.
  double moved_loss(const at::Tensor& tensor, const at::Tensor& direction, double distance) {
    const at::NoGradGuard no_graph;
    const at::Tensor before = tensor.clone();
    tensor.detach().add_(direction, distance);
    const double loss = loss_of(*model_, batch_, key_).item<double>();
    tensor.detach().copy_(before);
    return loss;
  }

  void expect_derivative(const Parameter& parameter, std::uint64_t seed) {
    const at::Tensor direction = random_tensor(parameter.tensor.sizes().vec(), seed);
    const double analytic = (parameter.tensor.grad() * direction).sum().item<double>();
    constexpr double distance = 2e-6;  // small, so that no unit passes the corner of its ReLU on the way
    const double numeric =
        (moved_loss(parameter.tensor, direction, distance) - moved_loss(parameter.tensor, direction, -distance)) /
        (2 * distance);
    constexpr double rounding = 1e-8;  // of two losses of about 50, over the distance
    EXPECT_NEAR(analytic, numeric, 1e-6 * std::abs(numeric) + rounding) << parameter.name;
    EXPECT_GT(std::abs(analytic), 1e-5) << parameter.name << ": too small to say anything";
  }

  void check(std::uint64_t seed) {
    model_.emplace(options_, seed);
    roughen(*model_, seed);
    batch_ = make_batch(random_sequences(seed, 5, 6, options_), options_.architecture, *group_);
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

INSTANTIATE_TEST_SUITE_P(Kinds, Gradient,
                         testing::Values(Kind{Architecture::encoder_decoder, TransitionKind::feed_forward},
                                         Kind{Architecture::encoder_decoder, TransitionKind::separable_convolution},
                                         Kind{Architecture::encoder, TransitionKind::feed_forward},
                                         Kind{Architecture::encoder, TransitionKind::separable_convolution}),
                         [](const auto& kind) { return name_of(kind.param); });

}  // namespace
}  // namespace ut::core
