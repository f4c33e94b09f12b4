#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/philox.h"
#include "core/batch.h"
#include "core/loss.h"
#include "core/universal_transformer.h"
#include "dist/rows.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// Fills results before a kernel writes them, so that a comparison fails if an element is not written.
inline constexpr double unwritten = std::numeric_limits<double>::quiet_NaN();

/// A sequence of a test batch, as a data set would give it.
struct ExampleSequence {
  std::int64_t id = 0;                            // its number in the update's global batch
  std::vector<std::vector<std::int64_t>> source;  // the words of each row; used if there is an encoder
  std::vector<std::int64_t> target;               // used if there is a decoder
  std::int64_t answer = 0;                        // encoder alone: the label of the first row
  std::int64_t offset = 0;                        // its first position
};

/// A small model in float64 with dropout in every place.
inline ModelOptions small_options() {
  ModelOptions options;
  options.d_model = 8;
  options.heads = 2;
  options.ffn = 12;
  options.encoder_steps = 3;
  options.decoder_steps = 2;
  options.residual_dropout = 0.2;
  options.attention_dropout = 0.25;
  options.transition_dropout = 0.15;
  options.input_dropout = 0.1;
  options.vocabulary = 11;
  options.precision = Precision::float64;
  return options;
}

/// A sequence that depends on the seed and the id alone, so that every rank makes the same.
inline ExampleSequence random_sequence(std::uint64_t seed, std::int64_t id, std::int64_t source_length,
                                       std::int64_t target_length, const ModelOptions& options) {
  base::Random random(base::mix(seed, static_cast<std::uint64_t>(id)));
  const auto word = [&] { return random.uniform(0, options.vocabulary - 1); };
  ExampleSequence sequence;
  sequence.id = id;
  for (std::int64_t row = 0; row < source_length; ++row) {
    sequence.source.emplace_back();
    for (auto words = random.uniform(1, options.words_per_row); words > 0; --words)
      sequence.source.back().push_back(word());
  }
  for (std::int64_t row = 0; row < target_length; ++row) sequence.target.push_back(word());
  sequence.answer = word();
  sequence.offset = random.uniform(0, 5);
  return sequence;
}

/// Sequences 0, …, count - 1 of random lengths 1 to `longest`.
inline std::vector<ExampleSequence> random_sequences(std::uint64_t seed, std::int64_t count, std::int64_t longest,
                                                     const ModelOptions& options) {
  base::Random random(seed);
  std::vector<ExampleSequence> sequences;
  for (std::int64_t id = 0; id < count; ++id) {
    const auto source_length = random.uniform(1, longest);
    sequences.push_back(random_sequence(seed, id, source_length, random.uniform(1, longest), options));
  }
  return sequences;
}

inline dist::Sequences sources_of(std::span<const ExampleSequence> sequences) {
  dist::Sequences result;
  for (const auto& sequence : sequences) {
    result.ids.push_back(sequence.id);
    result.lengths.push_back(static_cast<std::int64_t>(sequence.source.size()));
  }
  return result;
}

inline dist::Sequences targets_of(std::span<const ExampleSequence> sequences) {
  dist::Sequences result;
  for (const auto& sequence : sequences) {
    result.ids.push_back(sequence.id);
    result.lengths.push_back(static_cast<std::int64_t>(sequence.target.size()));
  }
  return result;
}

/// Calls use(sequence, position) for each local row.
template <class Use>
void for_each_row(const dist::Rows& rows, std::span<const ExampleSequence> sequences, const Use& use) {
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  for (std::size_t index = 0; index < sequences.size(); ++index)
    for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
      use(sequences[index], position[row]);
}

inline at::Tensor positions_of(const dist::Rows& rows, std::span<const ExampleSequence> sequences) {
  std::vector<std::int64_t> positions;
  for_each_row(rows, sequences, [&](const ExampleSequence& sequence, std::int64_t position) {
    positions.push_back(position + sequence.offset);
  });
  return at::tensor(positions, at::kLong);
}

inline void add_source(Batch& batch, std::span<const ExampleSequence> sequences, dist::Communicator& group,
                       const dist::ExchangeOptions& exchange = {}) {
  batch.source = dist::make_exchange(sources_of(sequences), group, exchange);
  std::size_t most = 1;
  for (const auto& sequence : sequences)
    for (const auto& words : sequence.source) most = std::max(most, words.size());
  std::vector<std::int64_t> table;
  for_each_row(batch.source->local(), sequences, [&](const ExampleSequence& sequence, std::int64_t position) {
    const auto& words = sequence.source.at(static_cast<std::size_t>(position));
    table.insert(table.end(), words.begin(), words.end());
    table.insert(table.end(), most - words.size(), -1);
  });
  batch.source_words =
      at::tensor(table, at::kLong).view({batch.source->local().count(), static_cast<std::int64_t>(most)});
  batch.source_position = positions_of(batch.source->local(), sequences);
}

inline void add_target(Batch& batch, std::span<const ExampleSequence> sequences, dist::Communicator& group,
                       const dist::ExchangeOptions& exchange = {}) {
  batch.target = dist::make_exchange(targets_of(sequences), group, exchange);
  std::vector<std::int64_t> previous;
  std::vector<std::int64_t> labels;
  for_each_row(batch.target->local(), sequences, [&](const ExampleSequence& sequence, std::int64_t position) {
    previous.push_back(position == 0 ? -1 : sequence.target.at(static_cast<std::size_t>(position - 1)));
    labels.push_back(sequence.target.at(static_cast<std::size_t>(position)));
  });
  batch.target_previous = at::tensor(previous, at::kLong);
  batch.target_position = positions_of(batch.target->local(), sequences);
  batch.labels = at::tensor(labels, at::kLong);
}

inline void add_answers(Batch& batch, std::span<const ExampleSequence> sequences) {
  std::vector<std::int64_t> read;
  std::vector<std::int64_t> labels;
  std::int64_t row = 0;
  for_each_row(batch.source->local(), sequences, [&](const ExampleSequence& sequence, std::int64_t position) {
    if (position == 0) {
      read.push_back(row);
      labels.push_back(sequence.answer);
    }
    ++row;
  });
  batch.read_rows = at::tensor(read, at::kLong);
  batch.labels = at::tensor(labels, at::kLong);
}

/// Replaces answers that are classes by words of the source; every source row holds a candidate.
inline void point_at_answers(Batch& batch, std::span<const ExampleSequence> sequences) {
  const dist::Rows& all = batch.source->all();
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> rows;
  std::vector<std::pair<std::int64_t, std::int64_t>> candidates;  // (label, candidate)
  for_each_row(batch.source->local(), sequences, [&](const ExampleSequence& sequence, std::int64_t position) {
    if (position != 0) return;
    const auto label = std::ssize(labels);
    std::int64_t row = all.offsets[static_cast<std::size_t>(&sequence - sequences.data())];
    std::vector<std::int64_t> words;
    for (const auto& words_of_row : sequence.source) {
      if (std::ranges::find(words, words_of_row[0]) == words.end()) words.push_back(words_of_row[0]);
      candidates.emplace_back(label, std::ranges::find(words, words_of_row[0]) - words.begin());
      rows.push_back(row++);
    }
    labels.push_back(sequence.answer % std::ssize(words));
    batch.candidates.per_label = std::max(batch.candidates.per_label, std::ssize(words));
  });
  std::vector<std::int64_t> places;
  for (const auto& [label, candidate] : candidates) places.push_back(label * batch.candidates.per_label + candidate);
  batch.candidates.row_of_place = at::tensor(rows, at::kLong);
  batch.candidates.candidate_of_place = at::tensor(places, at::kLong);
  batch.labels = at::tensor(labels, at::kLong);
}

/// The batch of this rank's rows of `sequences`, which the ranks of `group` share.
inline Batch make_batch(std::span<const ExampleSequence> sequences, Architecture architecture,
                        dist::Communicator& group, const dist::ExchangeOptions& exchange = {}, bool points = false) {
  Batch batch;
  if (architecture != Architecture::decoder) add_source(batch, sequences, group, exchange);
  if (architecture != Architecture::encoder)
    add_target(batch, sequences, group, exchange);
  else
    add_answers(batch, sequences);
  if (points) point_at_answers(batch, sequences);
  for (at::Tensor* part :
       {&batch.source_words, &batch.source_position, &batch.target_previous, &batch.target_position, &batch.read_rows,
        &batch.labels, &batch.candidates.row_of_place, &batch.candidates.candidate_of_place})
    if (part->defined()) *part = part->to(group.device());
  return batch;
}

/// float64, uniform in -1..1, a function of the seed.
inline at::Tensor random_tensor(const std::vector<std::int64_t>& sizes, std::uint64_t seed) {
  at::Tensor values = at::empty(sizes, at::kDouble);
  auto* data = values.mutable_data_ptr<double>();
  base::Random random(seed);
  for (std::int64_t element = 0; element < values.numel(); ++element) data[element] = random.word() * 0x1p-31 - 1;
  return values;
}

/// Moves parameters away from the zeros and ones that some start from, which could hide mistakes.
inline void perturb_parameters(Model& model, std::uint64_t seed, double by = 0.1) {
  const at::NoGradGuard no_graph;
  const at::Tensor& flat = model.parameters().flat();
  at::Tensor(flat).add_(random_tensor({flat.numel()}, seed).to(flat.device()), by);
}

/// Halting options with which, after perturb_parameters(), positions stop at many different steps.
inline HaltingOptions lively_halting(Halting encoder, Halting decoder) {
  HaltingOptions halting;
  halting.encoder = encoder;
  halting.decoder = decoder;
  halting.threshold = 0.9;
  halting.bias = -1;
  return halting;
}

/// A model whose greedy outputs differ by source and by place, which is rare in untrained models.
inline std::unique_ptr<UniversalTransformer> talkative_model(const HaltingOptions& halting = {},
                                                             at::Device device = at::kCPU) {
  ModelOptions options = small_options();
  options.halting = halting;
  if (halting.any()) options.encoder_steps = options.decoder_steps = 5;
  options.norm = Norm::pre;
  options.residual = Residual::signal_in;
  auto model = std::make_unique<UniversalTransformer>(options, 3, device);
  perturb_parameters(*model, 2, halting.any() ? 0.6 : 0.3);
  return model;
}

/// The loss, summed over this rank's labels and, with halting, its rows.
inline at::Tensor loss_of(const Model& model, const Batch& batch, const DropoutKey& key,
                          dist::GradientSynchronisation* synchronisation = nullptr) {
  const Prediction prediction = model.forward(batch, model.steps(), key, synchronisation);
  const double smoothing = model.options().points ? 0 : 0.1;
  return summed_cross_entropy(prediction.logits, batch.labels, smoothing) + 0.3 * mean_ponder_time(prediction, 1, 1);
}

}  // namespace ut::core
