#include "launcher/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/decoding.h"
#include "core/loss.h"
#include "datasets/vocabulary.h"
#include "launcher/rank_batch.h"

namespace ut::launcher {
namespace {

/// Adds to the whole and to the example's group, where there are groups.
template <class Add>
void add_to_both(Evaluation& sum, const datasets::Example& example, const Add& add) {
  add(static_cast<Results&>(sum));
  if (!sum.groups.empty()) add(sum.groups[static_cast<std::size_t>(example.group)]);
}

/// Ponder times of the encoder's rows, by group.
void count_by_group(Evaluation& sum, const at::Tensor& updates, const dist::Rows& rows,
                    std::span<const datasets::Example> examples) {
  for (std::size_t index = 0; index < examples.size() && !sum.groups.empty(); ++index)
    sum.groups[static_cast<std::size_t>(examples[index].group)].pondered.encoder.add(
        updates.slice(0, rows.offsets[index], rows.offsets[index + 1]));
}

/// Counts rows whose likeliest symbol is the label. A sequence is right where all its rows are, on whichever rank.
void count_teacher_forced(Evaluation& sum, const core::Prediction& prediction, const RankBatch& batch,
                          std::span<const datasets::Example> examples, const Session& session) {
  const at::Tensor labels = batch.rows.labels.cpu();
  const at::Tensor guess = prediction.logits.argmax(1).cpu();
  const bool has_targets = batch.rows.target != nullptr;
  const dist::Rows& rows = has_targets ? batch.rows.target->local() : batch.rows.source->local();
  const at::Tensor of_label = has_targets ? rows.sequence : rows.sequence.index_select(0, batch.rows.read_rows.cpu());
  at::Tensor wrong = at::zeros({rows.sequences()}, at::kLong);  // rows of each sequence
  // An answer outside the vocabulary is never right, and no part of the loss.
  const at::Tensor known = batch.rows.labels.ne(datasets::no_answer).nonzero().flatten();
  sum.loss +=
      core::summed_cross_entropy(prediction.logits.index_select(0, known), batch.rows.labels.index_select(0, known), 0)
          .item<double>();
  for (std::int64_t row = 0; row < labels.size(0); ++row) {
    const std::int64_t label = labels.const_data_ptr<std::int64_t>()[row];
    const bool right = guess.const_data_ptr<std::int64_t>()[row] == label;
    const std::int64_t sequence = of_label.const_data_ptr<std::int64_t>()[row] - batch.sources.ids.front();
    if (!right) ++wrong.mutable_data_ptr<std::int64_t>()[sequence];
    if (has_targets && label == datasets::end_of_sequence_id) continue;
    add_to_both(sum, examples[static_cast<std::size_t>(sequence)], [&](Results& results) {
      ++results.score.symbols;
      results.score.right_symbols += right ? 1 : 0;
    });
  }
  const core::HaltingOptions& halting = session.options.model.halting;
  sum.pondered.add(prediction, halting);
  if (halting.encoder != core::Halting::none)
    count_by_group(sum, prediction.encoder.updates, batch.rows.source->local(), examples);

  session.mesh.sequence().all_reduce_sum(wrong, dist::Purpose::control);
  if (session.mesh.sequence_rank() != 0) return;
  for (std::size_t index = 0; index < examples.size(); ++index)
    add_to_both(sum, examples[index], [&](Results& results) {
      ++results.score.sequences;
      results.score.right_sequences += wrong.const_data_ptr<std::int64_t>()[index] == 0 ? 1 : 0;
    });
}

void count_greedy(Evaluation& sum, const core::UniversalTransformer& model, const RankBatch& batch,
                  std::span<const datasets::Example> examples, const core::Steps& steps, const Session& session) {
  std::size_t longest = 0;
  for (const auto& example : examples) longest = std::max(longest, example.target.size());
  const core::Decoded decoded = core::decode_greedily(
      model, batch.rows, batch.sources, steps, {static_cast<std::int64_t>(longest), datasets::end_of_sequence_id},
      session.mesh.sequence());
  sum.pondered.add({{}, {decoded.encoder_updates, {}}, {decoded.decoder_updates, {}}}, session.options.model.halting);
  if (session.mesh.sequence_rank() != 0) return;
  for (std::size_t index = 0; index < decoded.outputs.size(); ++index) {
    auto reference = examples[index].target;
    reference.pop_back();  // end of sequence
    datasets::Score score;
    datasets::count(score, decoded.outputs[index], reference);
    add_to_both(sum, examples[index], [&](Results& results) { results.score += score; });
  }
}

void sum_over_ranks(Results& results, const core::Steps& steps, dist::Communicator& world) {
  auto& score = results.score;
  const at::Tensor counts =
      at::tensor({score.symbols, score.right_symbols, score.sequences, score.right_sequences}, at::kLong);
  world.all_reduce_sum(counts, dist::Purpose::control);
  const auto* count = counts.const_data_ptr<std::int64_t>();
  score = {count[0], count[1], count[2], count[3]};
  results.pondered.sum_over(world, steps);
}

}  // namespace

Evaluation evaluate_split(const Session& session, const core::UniversalTransformer& model, datasets::Split split,
                          const core::Steps& steps, Scoring scoring, std::int64_t limit) {
  const at::NoGradGuard no_graph;
  const std::int64_t size = session.task->size(split);
  const std::int64_t count = limit == 0 ? size : std::min(limit, size);
  const bool greedy = scoring == Scoring::greedy && session.task->has_target();
  Evaluation sum;
  sum.scoring = scoring;
  sum.groups.resize(session.task->groups().size());
  std::int64_t labels = 0;
  for (std::int64_t begin = 0; begin < count; begin += session.options.evaluation_batch) {
    datasets::Batch batch;
    for (auto index = begin; index < std::min(count, begin + session.options.evaluation_batch); ++index)
      batch.examples.push_back(session.task->example(split, index));
    const RankBatch mine = rank_batch(batch.examples, 0, session.mesh, session.options.exchange);
    labels += batch.labels();
    const auto examples = std::span(batch.examples).subspan(mine.first_example, mine.sources.ids.size());
    if (greedy)
      count_greedy(sum, model, mine, examples, steps, session);
    else
      count_teacher_forced(sum, model.forward(mine.rows, steps, {}), mine, examples, session);
  }
  dist::Communicator& world = session.mesh.world();
  sum_over_ranks(sum, steps, world);
  for (Results& group : sum.groups) sum_over_ranks(group, steps, world);
  const at::Tensor loss = at::tensor({sum.loss}, at::kDouble);
  world.all_reduce_sum(loss, dist::Purpose::control);
  sum.loss = loss.item<double>() / static_cast<double>(std::max<std::int64_t>(1, labels));
  return sum;
}

std::int64_t Evaluation::scored_groups() const {
  return std::ranges::count_if(groups, [](const Results& group) { return group.score.sequences > 0; });
}

double Evaluation::mean_error() const {
  double sum = 0;
  for (const Results& group : groups)
    if (group.score.sequences > 0) sum += 1 - group.score.symbol_accuracy();
  return sum / static_cast<double>(scored_groups());
}

std::int64_t Evaluation::failed_tasks() const {
  return std::ranges::count_if(groups, [](const Results& group) {
    const auto symbols = static_cast<double>(group.score.symbols);
    return symbols - static_cast<double>(group.score.right_symbols) > failed_above * symbols;
  });
}

std::string describe(const Evaluation& evaluation, const datasets::Task& task) {
  const auto& score = evaluation.score;
  const std::string pondered = describe(evaluation.pondered);
  const std::string and_pondered = pondered.empty() ? "" : ", " + pondered;
  if (!task.has_target())
    return fmt::format("accuracy {:.3f} on {} questions{}", score.symbol_accuracy(), score.sequences, and_pondered);
  return fmt::format("accuracy {:.3f} of symbols, {:.3f} of sequences on {} sequences ({}){}", score.symbol_accuracy(),
                     score.sequence_accuracy(), score.sequences,
                     evaluation.scoring == Scoring::greedy ? "decoded greedily" : "each symbol after the right ones",
                     and_pondered);
}

std::string describe_failed_tasks(const Evaluation& evaluation) {
  if (evaluation.scored_groups() == 0) return "";
  return fmt::format("{} of {} tasks failed (error above {:g} %), mean error {:.2f} %\n", evaluation.failed_tasks(),
                     evaluation.scored_groups(), 100 * failed_above, 100 * evaluation.mean_error());
}

std::string describe_groups(const Evaluation& evaluation, const datasets::Task& task) {
  std::string text;
  const auto names = task.groups();
  for (std::size_t group = 0; group < evaluation.groups.size(); ++group) {
    Evaluation alone;
    static_cast<Results&>(alone) = evaluation.groups[group];
    alone.scoring = evaluation.scoring;
    if (alone.score.sequences > 0) text += fmt::format("{}: {}\n", names[group], describe(alone, task));
  }
  return text;
}

}  // namespace ut::launcher
