#include "tests/golden/golden_model.h"

#include <ATen/ATen.h>

#include "tests/golden/hyperparameters.h"
#include "tests/golden/padded_rows.h"
#include "tests/golden/weights.h"

namespace ut::golden {
namespace {

/// True up to each sequence's last id that is not 0: a 0 between other ids counts as a real row.
at::Tensor real_mask(const at::Tensor& ids) { return ids.ne(0).to(at::kLong).flip(1).cumsum(1).flip(1).gt(0); }

at::Tensor positions(const at::Tensor& ids) { return at::arange(ids.size(1)).expand_as(ids).flatten(); }

}  // namespace

GoldenBatch::GoldenBatch(const Case& golden, const core::ModelOptions& options)
    : group(dist::make_single_communicator()) {
  add_source(golden.array("inputs").to(at::kLong), options);
  add_target(golden.array("targets").to(at::kLong), options);
}

void GoldenBatch::add_source(const at::Tensor& ids, const core::ModelOptions& options) {
  const bool has_gap = ids.eq(0).logical_and(real_mask(ids)).any().item<bool>();
  if (has_gap && options.transition == core::TransitionKind::separable_convolution)
    throw NotSupported("padding inside a sequence, with convolutions");
  const bool keeps_padding = options.halting.any();
  source_rows = keeps_padding ? at::arange(ids.numel()) : real_rows(ids);
  batch.source = keeps_padding ? make_padded_exchange(ids) : dist::make_exchange(sequences_of(ids), *group);
  batch.source_words = ids.flatten().index_select(0, source_rows).unsqueeze(1);
  batch.source_position = positions(ids).index_select(0, source_rows);
}

void GoldenBatch::add_target(const at::Tensor& ids, const core::ModelOptions& options) {
  const at::Tensor real = options.halting.any() ? at::ones_like(ids) : real_mask(ids);
  target_rows = real_rows(real);
  batch.target = dist::make_exchange(sequences_of(real), *group);
  const at::Tensor before = at::cat({at::zeros({ids.size(0), 1}, at::kLong), ids.slice(1, 0, -1)}, 1);
  batch.target_previous = at::where(before.eq(0), -1, before).flatten().index_select(0, target_rows);
  batch.target_position = positions(ids).index_select(0, target_rows);
  const at::Tensor labels = ids.flatten().index_select(0, target_rows);
  batch.labels = labels.index_select(0, real_rows(labels));
  if (batch.labels.numel() < labels.numel()) batch.read_rows = real_rows(labels);
}

GoldenModel::GoldenModel(const Case& golden, core::Precision precision)
    : golden_(golden), model_(model_options(golden, precision), 0) {
  load_weights(golden, options().norm, model_.parameters());
  golden.mark_used("target_space_id");
  if (golden.hparams().value("use_target_space_embedding", false)) {
    target_space_id_ = golden.array("target_space_id").to(at::kLong).flatten();
    target_space_.emplace(precision, 0);
    target_space_->add_constant("target_space_embedding", golden.array("weights/target_space_embedding").sizes().vec(),
                                0);
    target_space_->flatten();
    load_weights(golden, options().norm, *target_space_);
  }
  require_all_weights_used(golden);
  if (options().halting.any()) remove_padding(golden, model_.encoder().block(), golden.array("inputs"));
}

std::vector<const core::Parameters*> GoldenModel::parameters() const {
  std::vector<const core::Parameters*> all{&model_.parameters()};
  if (target_space_) all.push_back(&*target_space_);
  return all;
}

/// Padding is embedded as zeros, but the target space's row is added to padding, too.
at::Tensor GoldenModel::embed(const core::Batch& batch) const {
  at::Tensor words = model_.embed_source(batch);
  if (options().halting.any()) words = words * batch.source_words.ne(0).to(words.scalar_type());
  return target_space_ ? words + target_space_->all().front().tensor.index_select(0, target_space_id_) : words;
}

Prediction GoldenModel::predict(const core::Batch& batch) {
  Prediction prediction;
  const auto run = [](const core::Recurrence& stack, const at::Tensor& embedded, const at::Tensor& position,
                      std::int64_t steps, const dist::SequenceExchange& exchange, const core::Memory* memory) {
    StackTrace trace;
    const auto rows = stack.make_rows(exchange, memory);
    trace.output = stack.forward(embedded, position, steps, *rows, memory, {}, trace.observer());
    return trace;
  };
  prediction.encoder =
      run(model_.encoder(), embed(batch), batch.source_position, options().encoder_steps, *batch.source, nullptr);
  const core::Memory memory = model_.decoder().block().remember(prediction.encoder.output.state, *batch.source);
  prediction.decoder = run(model_.decoder(), model_.embed_target(batch), batch.target_position, options().decoder_steps,
                           *batch.target, &memory);
  prediction.logits = model_.logits(prediction.decoder.output.state);
  const bool adds_nothing = !target_space_ && !options().halting.any();
  prediction.scores = adds_nothing                ? model_.forward(batch, model_.steps(), {}).logits
                      : batch.read_rows.defined() ? prediction.logits.index_select(0, batch.read_rows)
                                                  : prediction.logits;
  if (options().halting.any())
    prediction.act_loss = prediction.encoder.act_loss(golden_) + prediction.decoder.act_loss(golden_);
  return prediction;
}

}  // namespace ut::golden
