#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/loss.h"
#include "core/optimizer.h"
#include "tests/golden/golden_model.h"
#include "tests/golden/kinds.h"
#include "tests/golden/weights.h"

namespace ut::golden {
namespace {

core::OptimizerOptions optimizer_options(const nlohmann::json& optimizer) {
  core::OptimizerOptions options;
  options.schedule = {core::ScheduleKind::inverse_square_root, optimizer.at("constant").get<double>(),
                      optimizer.at("warmup").get<std::int64_t>()};
  options.beta1 = optimizer.at("beta1").get<double>();
  options.beta2 = optimizer.at("beta2").get<double>();
  options.epsilon = optimizer.at("epsilon").get<double>();
  return options;
}

/// The training loss; leaves its gradient in the parameters.
double loss_and_gradient(GoldenModel& model, const core::Batch& batch, double smoothing) {
  for (const auto* parameters : model.parameters()) parameters->flat_gradient().zero_();
  const Prediction prediction = model.predict(batch);
  at::Tensor loss = core::summed_cross_entropy(prediction.scores, batch.labels, smoothing) /
                    static_cast<double>(batch.labels.numel());
  if (prediction.act_loss.defined()) loss = loss + prediction.act_loss;
  loss.backward();
  return loss.item<double>();
}

}  // namespace

void compare_training(const Case& golden, core::Precision precision, Comparison& comparison) {
  GoldenModel model(golden, precision);
  const GoldenBatch rows(golden, model.options());
  const core::OptimizerOptions options = optimizer_options(golden.meta().at("optimizer"));
  const auto updates = golden.meta().at("steps").get<std::int64_t>();
  const double smoothing = golden.hparams().at("label_smoothing").get<double>();
  std::vector<core::Adam> optimizers;
  for (const auto* parameters : model.parameters()) optimizers.emplace_back(options, *parameters);

  std::vector<double> losses;
  std::vector<double> rates;
  for (std::int64_t update = 0; update < updates; ++update) {
    losses.push_back(loss_and_gradient(model, rows.batch, smoothing));
    rates.push_back(core::learning_rate(options.schedule, update, updates, model.options().d_model));
    for (std::size_t index = 0; index < optimizers.size(); ++index) {
      const core::Parameters& parameters = *model.parameters()[index];
      optimizers[index].step(parameters.flat(), parameters.flat_gradient(), rates.back());
      compare_weights(comparison, model.options().norm, parameters, fmt::format("weights_after_{}/", update + 1));
    }
  }
  losses.push_back(loss_and_gradient(model, rows.batch, smoothing));
  comparison.check(Quantity::rate, "learning_rate", at::tensor(rates, at::kDouble));
  comparison.check(Quantity::loss, "loss_before_step", at::tensor(losses, at::kDouble));
}

}  // namespace ut::golden
