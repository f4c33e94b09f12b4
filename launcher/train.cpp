#include <ATen/ATen.h>

#include "core/loss.h"
#include "dist/gradient_synchronisation.h"
#include "launcher/commands.h"
#include "launcher/rank_batch.h"
#include "launcher/training_run.h"

namespace ut::launcher {

int train(Session& session) {
  const Options& options = session.options;
  TrainingRun run(session);  // model, optimizer, order of the examples; taken up again where --resume asks for it
  core::UniversalTransformer& model = run.model();
  const at::Tensor& parameters = model.parameters().flat();
  const at::Tensor& gradient = model.parameters().flat_gradient();

  while (!run.finished()) {
    session.update = run.update();
    const auto dropout = core::DropoutKey::for_update(options.seed, run.update());
    const datasets::Batch batch = run.next_batch();  // of all ranks, the same on each
    const auto labels = static_cast<double>(batch.labels());
    at::Tensor loss = at::zeros({}, gradient.options());
    Pondered pondered;
    dist::GradientSynchronisation synchronisation(gradient, model.decoder_elements(), session.mesh.world());

    const std::vector<MicroBatch> parts = micro_batches(batch, options.batch);
    for (const MicroBatch& part : parts) {
      const core::Batch rows =
          rank_batch(part.examples, part.first_id, session.mesh, options.exchange, run.random_offset()).rows;
      const core::Prediction made =
          model.forward(rows, model.steps(), dropout, &part == &parts.back() ? &synchronisation : nullptr);
      const at::Tensor share =
          core::summed_cross_entropy(made.logits, rows.labels, options.label_smoothing) / labels +
          run.ponder_weight() * core::mean_ponder_time(made, batch.source_rows(), batch.target_rows());
      share.backward();
      loss += share.detach();
      pondered.add(made, options.model.halting);
    }

    synchronisation.finish();
    const double rate =
        core::learning_rate(options.optimizer.schedule, run.update(), options.max_updates, options.model.d_model);
    const at::Tensor norm = run.optimizer().step(parameters, gradient, rate);
    gradient.zero_();

    run.report({loss, rate, norm, batch.rows(), pondered});
    if (run.evaluation_is_due()) run.evaluate();
    if (run.checkpoint_is_due()) run.write_checkpoint();
  }
  return run.end();
}

}  // namespace ut::launcher
