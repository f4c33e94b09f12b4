#include "launcher/run/scored_example.h"

#include <ATen/ATen.h>

namespace ut::launcher {
namespace {

using Numbers = std::vector<std::int64_t>;

/// [sequences][positions]: the values of all positions, from `values` [local rows] int64. Collective.
std::vector<Numbers> by_position(const at::Tensor& values, const dist::SequenceExchange& exchange,
                                 dist::Communicator& group) {
  const dist::Rows& local = exchange.local();
  const Numbers& offsets = exchange.all().offsets;
  const Numbers sequence = dist::sequence_numbers(local);
  const at::Tensor whole = at::zeros({exchange.all().count()}, at::kLong);
  const at::Tensor here = values.to(at::kCPU, at::kLong);
  for (std::int64_t row = 0; row < local.count(); ++row)
    whole.mutable_data_ptr<std::int64_t>()[offsets[static_cast<std::size_t>(sequence[static_cast<std::size_t>(row)])] +
                                           local.position.const_data_ptr<std::int64_t>()[row]] =
        here.const_data_ptr<std::int64_t>()[row];
  group.all_reduce_sum(whole, dist::Purpose::control);
  const auto* value = whole.const_data_ptr<std::int64_t>();
  std::vector<Numbers> of_sequences;
  for (std::size_t number = 0; number + 1 < offsets.size(); ++number)
    of_sequences.emplace_back(value + offsets[number], value + offsets[number + 1]);
  return of_sequences;
}

/// The loss of example number `index`, see show_teacher_forced().
std::optional<double> mean_loss(const at::Tensor& losses, std::int64_t index) {
  const auto* sum_and_count = losses.const_data_ptr<double>() + 2 * index;
  return sum_and_count[1] > 0 ? std::optional(sum_and_count[0] / sum_and_count[1]) : std::nullopt;
}

}  // namespace

std::vector<Numbers> updates_by_position(const at::Tensor& updates, const dist::SequenceExchange* exchange,
                                         core::Halting halting, dist::Communicator& group) {
  if (exchange == nullptr || halting == core::Halting::none) return {};
  return by_position(updates, *exchange, group);
}

void show_teacher_forced(const ExampleVisitor& visit, const core::Prediction& prediction, const RankBatch& batch,
                         const at::Tensor& wrong, const at::Tensor& losses, const Session& session) {
  dist::Communicator& group = session.mesh.sequence();
  const core::HaltingOptions& halting = session.options.model.halting;
  const dist::SequenceExchange& read_from = batch.rows.target ? *batch.rows.target : *batch.rows.source;
  const at::Tensor likeliest = prediction.logits.argmax(1).cpu();
  at::Tensor said_by_row = likeliest;
  if (batch.rows.read_rows.defined())
    said_by_row =
        at::zeros({read_from.local().count()}, at::kLong).index_copy(0, batch.rows.read_rows.cpu(), likeliest);
  const std::vector<Numbers> said = by_position(said_by_row, read_from, group);
  const auto encoder = updates_by_position(prediction.encoder.updates, batch.rows.source.get(), halting.encoder, group);
  const auto decoder = updates_by_position(prediction.decoder.updates, batch.rows.target.get(), halting.decoder, group);
  if (session.mesh.sequence_rank() != 0) return;
  for (std::size_t index = 0; index < batch.examples.size(); ++index) {
    const datasets::Example& example = batch.examples[index];
    const bool has_target = batch.rows.target != nullptr;
    const auto first = has_target ? example.first_label : 0;
    const auto end = has_target ? std::ssize(example.target) : 1;
    visit({batch.numbers[index], example,
           has_target ? Numbers(example.target.begin() + first, example.target.end()) : Numbers{example.answer},
           Numbers(said[index].begin() + first, said[index].begin() + end),
           wrong.const_data_ptr<std::int64_t>()[index] == 0, false, encoder.empty() ? Numbers() : encoder[index],
           decoder.empty() ? Numbers() : decoder[index], mean_loss(losses, static_cast<std::int64_t>(index))});
  }
}

}  // namespace ut::launcher
