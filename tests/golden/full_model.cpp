#include <ATen/ATen.h>

#include "core/loss.h"
#include "tests/golden/golden_model.h"
#include "tests/golden/kinds.h"
#include "tests/golden/weights.h"

namespace ut::golden {
void compare_full_model(const Case& golden, core::Precision precision, Comparison& comparison) {
  GoldenModel model(golden, precision);
  const GoldenBatch rows(golden, model.options());
  const core::Batch& batch = rows.batch;
  const Prediction prediction = model.predict(batch);
  compare_trace(comparison, "enc/", prediction.encoder, rows.source_rows);
  compare_trace(comparison, "dec/", prediction.decoder, rows.target_rows);
  if (golden.has("logits"))
    comparison.check(Quantity::output, "logits", prediction.logits,
                     rows_of_array(golden.array("logits"), 0, rows.target_rows));

  const at::Tensor& scores = prediction.scores;
  const double smoothing = golden.hparams().at("label_smoothing").get<double>();
  const auto labels = static_cast<double>(batch.labels.numel());
  const at::Tensor sum = core::summed_cross_entropy(scores.clone(), batch.labels, smoothing);
  const at::Tensor loss = sum / labels;
  comparison.check(Quantity::loss, "loss_numerator", sum.item<double>());
  comparison.check(Quantity::loss, "loss_denominator", labels);
  comparison.check(Quantity::loss, "loss_numerator_no_smoothing",
                   core::summed_cross_entropy(scores, batch.labels, 0).item<double>());
  comparison.check(Quantity::loss, "loss_denominator_no_smoothing", labels);
  comparison.check(Quantity::loss, "loss_training", loss.item<double>());
  const auto check_gradients = [&](const std::string& prefix) {
    for (const auto* parameters : model.parameters())
      compare_gradients(comparison, model.options().norm, *parameters, prefix);
  };
  double added = 0;
  if (prediction.act_loss.defined()) {
    added = prediction.act_loss.item<double>();
    comparison.check(Quantity::loss, "act_loss", added);
    prediction.act_loss.backward({}, /*retain_graph=*/true);
    check_gradients("grad_act_loss/");
  }
  comparison.check(Quantity::loss, "loss", loss.item<double>() + added);
  loss.backward();
  check_gradients("grad/");
}

}  // namespace ut::golden
