#include "launcher/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/decoding.h"
#include "core/loss.h"
#include "datasets/vocabulary.h"
#include "launcher/rank_batch.h"

namespace ut::launcher {
namespace {

/// Counts rows whose likeliest symbol is the label. A sequence is right where all its rows are, on whichever rank.
void count_teacher_forced(Evaluation& sum, const at::Tensor& logits, const RankBatch& batch, const dist::Mesh& mesh) {
  const at::Tensor& labels = batch.rows.labels;
  const at::Tensor right = logits.argmax(1).eq(labels);
  const bool has_targets = batch.rows.target != nullptr;
  const at::Tensor counted = has_targets ? labels.ne(datasets::end_of_sequence_id) : at::ones_like(right);
  sum.loss += core::summed_cross_entropy(logits, labels, 0).item<double>();
  sum.score.symbols += counted.sum().item<std::int64_t>();
  sum.score.right_symbols += right.logical_and(counted).sum().item<std::int64_t>();

  const dist::Rows& rows = has_targets ? batch.rows.target->local() : batch.rows.source->local();
  const at::Tensor sequence = (has_targets ? rows.sequence : rows.sequence.index_select(0, batch.rows.read_rows)) -
                              (batch.sources.ids.empty() ? 0 : batch.sources.ids.front());  // [labels]
  at::Tensor wrong = at::zeros({rows.sequences()}, at::kLong).index_add(0, sequence, right.logical_not().to(at::kLong));
  mesh.sequence().all_reduce_sum(wrong, dist::Purpose::control);
  if (mesh.sequence_rank() != 0) return;
  sum.score.sequences += rows.sequences();
  sum.score.right_sequences += wrong.eq(0).sum().item<std::int64_t>();
}

void count_greedy(Evaluation& sum, const core::UniversalTransformer& model, const RankBatch& batch,
                  std::span<const datasets::Example> examples, const core::Steps& steps, const Session& session) {
  std::size_t longest = 0;
  for (const auto& example : examples) longest = std::max(longest, example.target.size());
  const auto outputs = core::decode_greedily(model, batch.rows, batch.sources, steps,
                                             {static_cast<std::int64_t>(longest), datasets::end_of_sequence_id},
                                             session.mesh.sequence());
  if (session.mesh.sequence_rank() != 0) return;
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    auto reference = examples[batch.first_example + index].target;
    reference.pop_back();  // end of sequence
    datasets::count(sum.score, outputs[index], reference);
  }
}

void sum_over_ranks(Evaluation& evaluation, dist::Communicator& world) {
  auto& score = evaluation.score;
  const at::Tensor counts =
      at::tensor({score.symbols, score.right_symbols, score.sequences, score.right_sequences}, at::kLong);
  const at::Tensor loss = at::tensor({evaluation.loss}, at::kDouble);
  world.all_reduce_sum(counts, dist::Purpose::control);
  world.all_reduce_sum(loss, dist::Purpose::control);
  const auto* count = counts.const_data_ptr<std::int64_t>();
  score = {count[0], count[1], count[2], count[3]};
  evaluation.loss = loss.item<double>();
}

}  // namespace

Evaluation evaluate_split(const Session& session, const core::UniversalTransformer& model, datasets::Split split,
                          const core::Steps& steps, Scoring scoring, std::int64_t limit) {
  const at::NoGradGuard no_graph;
  const std::int64_t size = session.task->size(split);
  const std::int64_t examples = limit == 0 ? size : std::min(limit, size);
  const bool greedy = scoring == Scoring::greedy && session.task->has_target();
  Evaluation sum;
  sum.scoring = scoring;
  std::int64_t labels = 0;
  for (std::int64_t begin = 0; begin < examples; begin += session.options.evaluation_batch) {
    datasets::Batch batch;
    for (auto index = begin; index < std::min(examples, begin + session.options.evaluation_batch); ++index)
      batch.examples.push_back(session.task->example(split, index));
    const RankBatch mine = rank_batch(batch.examples, 0, session.mesh);
    labels += batch.labels();
    if (greedy)
      count_greedy(sum, model, mine, batch.examples, steps, session);
    else
      count_teacher_forced(sum, model.forward(mine.rows, steps, {}), mine, session.mesh);
  }
  sum_over_ranks(sum, session.mesh.world());
  sum.loss /= static_cast<double>(std::max<std::int64_t>(1, labels));
  return sum;
}

std::string describe(const Evaluation& evaluation, const datasets::Task& task) {
  const auto& score = evaluation.score;
  if (!task.has_target())
    return fmt::format("accuracy {:.3f} on {} questions", score.symbol_accuracy(), score.sequences);
  return fmt::format("accuracy {:.3f} of symbols, {:.3f} of sequences on {} sequences ({})", score.symbol_accuracy(),
                     score.sequence_accuracy(), score.sequences,
                     evaluation.scoring == Scoring::greedy ? "decoded greedily" : "each symbol after the right ones");
}

}  // namespace ut::launcher
