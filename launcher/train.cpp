#include <ATen/ATen.h>

#include "core/loss.h"
#include "dist/gradient_synchronisation.h"
#include "launcher/commands.h"
#include "launcher/train/training_run.h"

namespace ut::launcher {

int train(Session& session) {
  const Options& options = session.options;
  // Model, optimizer and order of the examples; continued from a checkpoint if --resume asks for it.
  TrainingRun run(session);
  core::Model& model = run.model();
  const at::Tensor& parameters = model.parameters().flat();
  const at::Tensor& gradient = model.parameters().flat_gradient();

  while (!run.finished()) {
    const auto dropout = core::DropoutKey::for_update(options.seed, run.update());
    const Input input = run.next_input();  // the batch of all ranks, and this rank's rows of it
    const core::LossOptions loss_options = run.loss_of(input.batch);
    at::Tensor loss = at::zeros({}, gradient.options());
    PonderHistograms ponder_times;
    dist::GradientSynchronisation synchronisation(gradient, model.early_elements(), session.mesh.world());

    for (const core::Batch& micro_batch : input.micro_batches) {
      const core::Prediction prediction =
          model.forward(micro_batch, model.steps(), dropout,
                        &micro_batch == &input.micro_batches.back() ? &synchronisation : nullptr);
      const at::Tensor share = core::share_of_loss(prediction, micro_batch.labels, loss_options);
      core::backward(share);
      loss += share.detach();
      ponder_times.add(prediction, options.model.halting);
    }

    synchronisation.finish();
    const double rate =
        core::learning_rate(options.optimizer.schedule, run.update(), options.max_updates, options.model.d_model);
    const at::Tensor norm = run.optimizer().step(parameters, gradient, rate);

    run.report({loss, rate, norm, input.batch.rows(), ponder_times, synchronisation});
    gradient.zero_();
    if (run.rank_check_is_due()) run.check_ranks();
    if (run.evaluation_is_due()) run.evaluate();
    if (run.checkpoint_is_due()) run.write_checkpoint();
  }
  return run.end();
}

}  // namespace ut::launcher
