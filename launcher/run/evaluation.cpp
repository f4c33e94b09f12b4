#include "launcher/run/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/loss.h"
#include "datasets/vocabulary.h"
#include "launcher/options/model_options.h"
#include "launcher/run/rank_batch.h"

namespace ut::launcher {
namespace {

/// Adds to the whole and, if there are groups, to the example's group.
template <class Add>
void add_to_both(Evaluation& sum, const datasets::Example& example, const Add& add) {
  add(static_cast<Results&>(sum));
  if (!sum.groups.empty()) add(sum.groups[static_cast<std::size_t>(example.group)]);
}

/// Counts the ponder times of one stack's rows by group.
void count_by_group(Evaluation& sum, PonderHistogram PonderHistograms::*stack, const at::Tensor& updates,
                    const dist::Rows& rows, std::span<const datasets::Example> examples) {
  if (sum.groups.empty()) return;
  const at::Tensor here = updates.cpu();
  for (std::size_t index = 0; index < examples.size(); ++index)
    (sum.groups[static_cast<std::size_t>(examples[index].group)].ponder_times.*stack)
        .add(here.slice(0, rows.offsets[index], rows.offsets[index + 1]));
}

void count_ponder(Evaluation& sum, const core::Prediction& prediction, const core::Batch& rows,
                  std::span<const datasets::Example> examples, const core::HaltingOptions& halting) {
  sum.ponder_times.add(prediction, halting);
  if (rows.source && halting.encoder != core::Halting::none)
    count_by_group(sum, &PonderHistograms::encoder, prediction.encoder.updates, rows.source->local(), examples);
  if (rows.target && halting.decoder != core::Halting::none)
    count_by_group(sum, &PonderHistograms::decoder, prediction.decoder.updates, rows.target->local(), examples);
}

/// Which labels are right, [labels] bool: those likelier than all other symbols or, if the example names a rival, in
/// `rivals` [labels], likelier than that. A label outside the vocabulary never is.
at::Tensor right_labels(const at::Tensor& logits, const at::Tensor& labels, const std::vector<std::int64_t>& rivals) {
  const at::Tensor rival = at::tensor(rivals, at::kLong).to(logits.device());
  const auto score = [&logits](const at::Tensor& symbol) {
    return logits.gather(1, symbol.clamp_min(0).unsqueeze(1)).squeeze(1);
  };
  const at::Tensor likeliest = logits.argmax(1).eq(labels);
  const at::Tensor right = at::where(rival.ge(0), score(labels).gt(score(rival)), likeliest);
  return right.logical_and(labels.ge(0)).cpu();
}

/// Cross entropy summed over the labels in the vocabulary.
double known_loss(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor known = labels.ne(datasets::no_answer).nonzero().flatten();
  return core::summed_cross_entropy(logits.index_select(0, known), labels.index_select(0, known), 0).item<double>();
}

/// Each example's cross entropy, summed over the labels in the vocabulary, and their number: [examples, 2] float64.
/// `of_label`: the example of each label.
at::Tensor losses_of_examples(const at::Tensor& logits, const at::Tensor& labels,
                              const std::vector<std::int64_t>& of_label, std::int64_t examples) {
  const at::Tensor losses =
      at::cross_entropy_loss(logits, labels, {}, at::Reduction::None, datasets::no_answer).to(at::kDouble);
  const at::Tensor known = labels.ne(datasets::no_answer).to(at::kDouble);
  return at::zeros({examples, 2}, at::kDouble)
      .index_add(0, at::tensor(of_label, at::kLong), at::stack({losses, known}, 1).cpu());
}

/// Counts right labels. A sequence is right if all its labels are, on whichever rank they are.
void count_teacher_forced(Evaluation& sum, const core::Prediction& prediction, const RankBatch& batch,
                          const Session& session, const ExampleVisitor& visit) {
  const std::span<const datasets::Example> examples = batch.examples;
  const at::Tensor labels = batch.rows.labels.cpu();
  const std::vector<std::int64_t> of_label = batch.sequences_of_labels();
  std::vector<std::int64_t> rivals;
  for (const std::int64_t sequence : of_label) rivals.push_back(examples[static_cast<std::size_t>(sequence)].rival);
  const at::Tensor right_ones = right_labels(prediction.logits, batch.rows.labels, rivals);
  at::Tensor wrong = at::zeros({std::ssize(examples)}, at::kLong);  // wrong labels of each sequence
  sum.loss += known_loss(prediction.logits, batch.rows.labels);
  for (std::int64_t row = 0; row < labels.size(0); ++row) {
    const bool right = right_ones.const_data_ptr<bool>()[row];
    const std::int64_t sequence = of_label[static_cast<std::size_t>(row)];
    if (!right) ++wrong.mutable_data_ptr<std::int64_t>()[sequence];
    if (batch.rows.target && labels.const_data_ptr<std::int64_t>()[row] == datasets::end_of_sequence_id) continue;
    add_to_both(sum, examples[static_cast<std::size_t>(sequence)], [&](Results& results) {
      ++results.score.symbols;
      results.score.right_symbols += right ? 1 : 0;
    });
  }
  count_ponder(sum, prediction, batch.rows, examples, session.options.model.halting);

  session.mesh.sequence().all_reduce_sum(wrong, dist::Purpose::control);
  if (visit) {
    const at::Tensor losses = losses_of_examples(prediction.logits, batch.rows.labels, of_label, std::ssize(examples));
    session.mesh.sequence().all_reduce_sum(losses, dist::Purpose::control);
    show_teacher_forced(visit, prediction, batch, wrong, losses, session);
  }
  if (session.mesh.sequence_rank() != 0) return;
  for (std::size_t index = 0; index < examples.size(); ++index)
    add_to_both(sum, examples[index], [&](Results& results) {
      ++results.score.sequences;
      results.score.right_sequences += wrong.const_data_ptr<std::int64_t>()[index] == 0 ? 1 : 0;
    });
}

/// Adds what BLEU is computed from: the counts of an output's text against the right text.
void count_text(Evaluation& sum, const std::vector<std::int64_t>& output, const datasets::Example& example,
                const std::string& right_text, const datasets::Task& task) {
  const std::string text = task.render(output);
  for (std::size_t scoring = 0; scoring < text_scorings.size(); ++scoring) {
    const auto tokens = [&how = text_scorings.at(scoring)](const std::string& line) {
      return datasets::bleu_tokens(line, how.tokens, how.lower_cased);
    };
    const datasets::BleuCounts counts = datasets::count_ngrams(tokens(text), {tokens(right_text)});
    add_to_both(sum, example, [&](Results& results) { results.text->at(scoring) += counts; });
  }
}

/// Whether the source is only its end. The output is then empty, as in ut decode.
bool is_empty(const datasets::Example& example) {
  return example.source == std::vector<std::vector<std::int64_t>>{{datasets::end_of_sequence_id}};
}

/// Decodes examples of a split and scores their outputs.
void count_decoded(Evaluation& sum, const core::Model& model, const RankBatch& batch, datasets::Split split,
                   const core::Steps& steps, const Session& session, const ExampleVisitor& visit) {
  const std::span<const datasets::Example> examples = batch.examples;
  const datasets::Task& task = *session.task;
  const core::Decoded decoded =
      core::decode(model, batch.rows, batch.sources, steps, decoding_options(session.options, task, examples),
                   session.mesh.sequence());
  sum.ponder_times.add({{}, {decoded.encoder_updates, {}}, {decoded.decoder_updates, {}}},
                       session.options.model.halting);
  std::vector<std::vector<std::int64_t>> encoder;
  if (visit)
    encoder = updates_by_position(decoded.encoder_updates, batch.rows.source.get(),
                                  session.options.model.halting.encoder, session.mesh.sequence());
  if (session.mesh.sequence_rank() != 0) return;
  for (std::size_t index = 0; index < decoded.found.outputs.size(); ++index) {
    const auto output = is_empty(examples[index]) ? std::vector<std::int64_t>() : decoded.found.outputs[index];
    auto reference = examples[index].target;
    reference.pop_back();  // end of sequence
    datasets::Score score;
    datasets::count(score, output, reference);
    add_to_both(sum, examples[index], [&](Results& results) { results.score += score; });
    if (task.is_scored_as_text())
      count_text(sum, output, examples[index], task.right_text(split, batch.numbers[index]), task);
    if (visit)
      visit({batch.numbers[index],
             examples[index],
             reference,
             output,
             output == reference,
             true,
             encoder.empty() ? std::vector<std::int64_t>() : encoder[index],
             {},
             {}});
  }
}

void sum_over_ranks(datasets::BleuCounts& counts, dist::Communicator& world) {
  std::vector<std::int64_t> numbers(counts.matched.begin(), counts.matched.end());
  numbers.insert(numbers.end(), counts.total.begin(), counts.total.end());
  numbers.insert(numbers.end(), {counts.length, counts.reference_length});
  const at::Tensor sums = at::tensor(numbers, at::kLong);
  world.all_reduce_sum(sums, dist::Purpose::control);
  const auto* number = sums.const_data_ptr<std::int64_t>();
  std::copy_n(number, datasets::bleu_orders, counts.matched.begin());
  std::copy_n(number + datasets::bleu_orders, datasets::bleu_orders, counts.total.begin());
  counts.length = number[2 * datasets::bleu_orders];
  counts.reference_length = number[2 * datasets::bleu_orders + 1];
}

void sum_over_ranks(Results& results, const core::Steps& steps, dist::Communicator& world) {
  auto& score = results.score;
  const at::Tensor counts =
      at::tensor({score.symbols, score.right_symbols, score.sequences, score.right_sequences}, at::kLong);
  world.all_reduce_sum(counts, dist::Purpose::control);
  const auto* count = counts.const_data_ptr<std::int64_t>();
  score = {count[0], count[1], count[2], count[3]};
  if (results.text)
    for (datasets::BleuCounts& counts_of_text : *results.text) sum_over_ranks(counts_of_text, world);
  results.ponder_times.sum_over(world, steps);
}

}  // namespace

std::optional<Evaluation> evaluate_split(const Session& session, const core::Model& model, datasets::Split split,
                                         const core::Steps& steps, Scoring scoring, std::int64_t limit,
                                         const std::function<bool()>& stop, const ExampleVisitor& visit) {
  const at::NoGradGuard no_graph;
  const std::int64_t size = session.task->size(split);
  const std::int64_t count = limit == 0 ? size : std::min(limit, size);
  const bool decodes = scoring == Scoring::decoded && session.task->has_outputs();
  Evaluation sum;
  sum.scoring = decodes ? Scoring::decoded : Scoring::teacher_forced;
  sum.beam = session.options.beam;
  Results nothing;
  if (decodes && session.task->is_scored_as_text()) nothing.text.emplace();
  sum.text = nothing.text;
  if (session.task->has_groups(split)) sum.groups.assign(session.task->groups().size(), nothing);
  for (std::int64_t begin = 0; begin < count; begin += session.options.evaluation_batch) {
    if (stop()) return std::nullopt;
    datasets::Batch batch;
    for (auto index = begin; index < std::min(count, begin + session.options.evaluation_batch); ++index) {
      const std::int64_t number =
          index * size / count;  // spread over the whole split, whose groups may come one after the other
      batch.examples.push_back(session.task->example_size(split, number));
    }
    const auto make = [&](std::int64_t number) { return session.task->example(split, number); };
    const RankBatch mine = rank_batch(batch.examples, make, begin, session.mesh, session.options.exchange);
    sum.labels += decodes ? 0 : batch.labels();
    if (decodes)
      count_decoded(sum, model, mine, split, steps, session, visit);
    else
      count_teacher_forced(sum, model.forward(mine.rows, steps, {}), mine, session, visit);
    sum.ponder_times.count_arriving();
  }
  dist::Communicator& world = session.mesh.world();
  sum_over_ranks(sum, steps, world);
  for (Results& group : sum.groups) sum_over_ranks(group, steps, world);
  const at::Tensor loss = at::tensor({sum.loss}, at::kDouble);
  world.all_reduce_sum(loss, dist::Purpose::control);
  sum.loss = loss.item<double>() / static_cast<double>(std::max<std::int64_t>(1, sum.labels));
  return sum;
}

datasets::Bleu Results::bleu() const { return datasets::bleu_of(text->front(), text_scorings.front()); }

double Evaluation::steering_score(BestBy by) const {
  if (by == BestBy::sequences) return score.sequence_accuracy();
  return text && by != BestBy::symbols ? bleu().score / 100 : score.symbol_accuracy();
}

double Evaluation::perplexity() const { return std::exp(loss); }

std::int64_t Evaluation::scored_groups() const {
  return std::ranges::count_if(groups, [](const Results& group) { return group.score.sequences > 0; });
}

double Evaluation::mean_of_groups() const {
  double accuracies = 0;
  for (const Results& group : groups) accuracies += group.score.symbol_accuracy();
  return accuracies / static_cast<double>(std::max<std::int64_t>(1, scored_groups()));
}

std::int64_t Evaluation::failed_tasks() const {
  return std::ranges::count_if(groups, [](const Results& group) {
    const auto symbols = static_cast<double>(group.score.symbols);
    return symbols - static_cast<double>(group.score.right_symbols) > failed_above * symbols;
  });
}

}  // namespace ut::launcher
