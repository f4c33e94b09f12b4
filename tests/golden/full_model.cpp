#include <ATen/ATen.h>

#include "core/loss.h"
#include "tests/golden/golden_model.h"
#include "tests/golden/kinds.h"
#include "tests/golden/weights.h"

namespace ut::golden {
namespace {

/// Rows of a stack against the authors' padded arrays; what these hold at padding nobody looks at.
void compare_stack(Comparison& comparison, const std::string& stack, const StackTrace& trace, const at::Tensor& rows) {
  const Case& golden = comparison.golden();
  const auto check = [&](const std::string& name, std::int64_t axis, const at::Tensor& got) {
    if (golden.has(stack + name))
      comparison.check(Quantity::output, stack + name, got, rows_of_array(golden.array(stack + name), axis, rows));
  };
  check("steps/state", 1, at::stack(trace.states));
  check("state", 0, trace.states.back());
  check("output", 0, trace.output);
}

}  // namespace

void compare_full_model(const Case& golden, core::Precision precision, Comparison& comparison) {
  GoldenModel model(golden, precision);
  const GoldenBatch rows(golden, model.options());
  const core::Batch& batch = rows.batch;
  const Prediction prediction = model.predict(batch);
  compare_stack(comparison, "enc/", prediction.encoder, rows.source_rows);
  compare_stack(comparison, "dec/", prediction.decoder, rows.target_rows);
  if (golden.has("logits"))
    comparison.check(Quantity::output, "logits", prediction.logits,
                     rows_of_array(golden.array("logits"), 0, rows.target_rows));

  const at::Tensor scores = model.scores(batch);
  const double smoothing = golden.hparams().at("label_smoothing").get<double>();
  const auto labels = static_cast<double>(batch.labels.numel());
  const at::Tensor sum = core::summed_cross_entropy(scores, batch.labels, smoothing);
  const at::Tensor loss = sum / labels;
  comparison.check(Quantity::loss, "loss_numerator", sum.item<double>());
  comparison.check(Quantity::loss, "loss_denominator", labels);
  comparison.check(Quantity::loss, "loss_numerator_no_smoothing",
                   core::summed_cross_entropy(scores, batch.labels, 0).item<double>());
  comparison.check(Quantity::loss, "loss_denominator_no_smoothing", labels);
  comparison.check(Quantity::loss, "loss_training", loss.item<double>());
  comparison.check(Quantity::loss, "loss", loss.item<double>());

  loss.backward();
  for (const auto* parameters : model.parameters()) compare_gradients(comparison, model.options().norm, *parameters);
}

}  // namespace ut::golden
