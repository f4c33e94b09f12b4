#include "launcher/bench/bench_run.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/philox.h"
#include "core/decoding.h"
#include "core/loss.h"
#include "core/make_model.h"
#include "core/universal_transformer.h"
#include "dist/gradient_synchronisation.h"
#include "launcher/bench/bench_examples.h"
#include "launcher/bench/bench_ponder.h"
#include "launcher/options/model_options.h"
#include "launcher/run/rank_batch.h"

namespace ut::launcher {
namespace {

/// Replaces a stack's halting unit, if it has one, by drawn ponder times.
void draw_ponder(core::Recurrence& stack, const Options& options, std::int64_t most, std::uint64_t number) {
  if (stack.halting() == core::Halting::none) return;
  const auto drawn = [&](double share_of_mean) {
    return DrawnPonder(options.bench.ponder * share_of_mean, most, base::mix(options.seed, number));
  };
  const auto last_step = [first = drawn(1 + options.bench.ponder_skew), second = drawn(1 - options.bench.ponder_skew),
                          half = options.bench.length / 2](std::int64_t sequence, std::int64_t position) {
    return position < half ? first(sequence, position) : second(sequence, position);
  };
  stack.replace_halting_unit(halting_draw(last_step, options.model.halting.threshold));
}

}  // namespace

BenchRun::BenchRun(Session& session)
    : session_(session),
      examples_(bench_examples(session.options)),
      batch_(datasets::batch_of(examples_)),
      model_(core::make_model(bench_model(session.options), session.options.seed, session.mesh.device())),
      optimizer_(session.options.optimizer, model_->parameters()) {
  const Options& options = session.options;
  if (options.bench.ponder == 0) return;
  auto& model = dynamic_cast<core::UniversalTransformer&>(*model_);  // no other model halts
  if (!options.bench.decoder_only) draw_ponder(model.encoder(), options, model.steps().encoder, 1);
  if (!options.bench.encoder_only) draw_ponder(model.decoder(), options, model.steps().decoder, 2);
}

std::int64_t BenchRun::symbols() const {
  const BenchOptions& bench = session_.options.bench;
  return bench.decode ? std::ssize(batch_.examples) * bench.length : batch_.rows();
}

UpdateMade BenchRun::update() {
  const Options& options = session_.options;
  session_.update = optimizer_.updates();
  const at::Tensor& gradient = model_->parameters().flat_gradient();
  dist::GradientSynchronisation synchronisation(gradient, model_->early_elements(), session_.mesh.world());
  UpdateMade made = add_gradients(synchronisation);
  synchronisation.finish();
  const double rate =
      core::learning_rate(options.optimizer.schedule, session_.update, options.max_updates, options.model.d_model);
  optimizer_.step(model_->parameters().flat(), gradient, rate);
  gradient.zero_();
  return made;
}

UpdateMade BenchRun::decode() {
  const at::NoGradGuard no_graph;
  RankBatch batch = rank_batch(examples_, 0, session_.mesh, session_.options.exchange);
  const core::DecodingOptions all_of_them{session_.options.bench.length, -1};  // no symbol ends a sequence
  const core::Decoded decoded =
      core::decode(*model_, batch.rows, batch.sources, model_->steps(), all_of_them, session_.mesh.sequence());
  return {std::move(batch.rows), decoded.encoder_updates, decoded.decoder_updates};
}

UpdateMade BenchRun::add_gradients(dist::GradientSynchronisation& synchronisation) {
  const Options& options = session_.options;
  const auto dropout = core::DropoutKey::for_update(options.seed, session_.update);
  core::Batch rows = rank_batch(examples_, 0, session_.mesh, options.exchange).rows;
  const core::Prediction made = model_->forward(rows, model_->steps(), dropout, &synchronisation);
  const core::LossOptions of_update{batch_.labels(), batch_.source_rows(), batch_.target_rows(),
                                    options.label_smoothing, options.ponder_weight};
  core::backward(core::share_of_loss(made, rows.labels, of_update));
  return {std::move(rows), made.encoder.updates, made.decoder.updates};
}

}  // namespace ut::launcher
