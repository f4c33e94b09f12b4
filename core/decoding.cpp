#include "core/decoding.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/decoding_cache.h"

namespace ut::core {
namespace {

using Outputs = std::vector<std::vector<std::int64_t>>;

/// Cuts what comes from a sequence's end on.
void cut_at_end(Outputs& outputs, std::int64_t end_of_sequence) {
  for (auto& output : outputs) output.erase(std::ranges::find(output, end_of_sequence), output.end());
}

/// The memory of the sequences with these numbers alone.
Memory memory_of(const Memory& memory, const std::vector<std::int64_t>& sequences) {
  const auto [rows, places] = dist::rows_of_sequences(memory.rows, sequences);
  Memory part{{}, rows};
  const at::Tensor index = at::tensor(places, at::kLong).to(memory.keys_values.front().device());
  for (const at::Tensor& keys_values : memory.keys_values)
    part.keys_values.push_back(keys_values.index_select(0, index));
  return part;
}

/// The likeliest symbol after each of the sequences in `rows`, of which `outputs` are known; and what it took.
std::pair<at::Tensor, at::Tensor> next_symbols(const UniversalTransformer& model, const Memory* memory,
                                               const NewPosition& rows, const Outputs& outputs, std::int64_t steps,
                                               DecodingCache& cache) {
  std::vector<std::int64_t> previous;
  for (const std::int64_t sequence : rows.sequence) {
    const auto& output = outputs[static_cast<std::size_t>(sequence)];
    previous.push_back(output.empty() ? -1 : output.back());
  }
  Batch batch;
  batch.target_previous = at::tensor(previous, at::kLong).to(cache.device());
  const at::Tensor position = at::full_like(batch.target_previous, rows.position);
  const Recurrence& decoder = model.decoder();
  const dist::Rows* memory_rows = memory == nullptr ? nullptr : &memory->rows;
  const auto cached = make_cached_rows(cache, rows, decoder.halting(), steps, memory_rows);
  const Revised revised = decoder.forward(model.embed_target(batch), position, steps, *cached, memory, {});
  return {model.logits(revised.state).argmax(1).cpu(), revised.updates.cpu()};
}

/// Decodes these sequences alone, each position once.
Decoded decode_cached(const UniversalTransformer& model, const Memory* memory, const std::vector<std::int64_t>& ids,
                      std::int64_t steps, const DecodingOptions& options) {
  Outputs outputs(ids.size());
  std::vector<at::Tensor> updates{at::empty({0}, at::kLong)};
  DecodingCache cache(static_cast<std::int64_t>(ids.size()), model.parameters().flat().device());
  NewPosition rows{0, std::vector<std::int64_t>(ids.size()), ids};
  std::iota(rows.sequence.begin(), rows.sequence.end(), 0);
  for (; rows.position < options.longest && !rows.sequence.empty(); ++rows.position) {
    const auto [symbols, taken] = next_symbols(model, memory, rows, outputs, steps, cache);
    updates.push_back(taken);
    const auto* symbol = symbols.const_data_ptr<std::int64_t>();
    for (const std::int64_t sequence : rows.sequence) outputs[static_cast<std::size_t>(sequence)].push_back(*symbol++);
    std::erase_if(rows.sequence, [&](std::int64_t sequence) {
      return outputs[static_cast<std::size_t>(sequence)].back() == options.end_of_sequence;
    });
  }
  return {std::move(outputs), {}, at::cat(updates)};
}

/// The outputs of all sequences, of which this rank has decoded those from `first` on. Collective.
Outputs gather_outputs(const Outputs& mine, std::int64_t first, std::size_t sequences, std::int64_t longest,
                       dist::Communicator& group) {
  at::Tensor table = at::zeros({static_cast<std::int64_t>(sequences), longest}, at::kLong);  // symbols + 1; 0: none
  auto* entry = table.mutable_data_ptr<std::int64_t>();
  for (std::size_t index = 0; index < mine.size(); ++index)
    std::ranges::transform(mine[index], entry + (first + static_cast<std::int64_t>(index)) * longest,
                           [](std::int64_t symbol) { return symbol + 1; });
  group.all_reduce_sum(table, dist::Purpose::control);
  Outputs all(sequences);
  for (auto& output : all) {
    for (std::int64_t place = 0; place < longest && entry[place] != 0; ++place) output.push_back(entry[place] - 1);
    entry += longest;
  }
  return all;
}

/// One pass over all positions so far for each symbol: for halting that depends on all of them.
class WholePrefixes {
 public:
  WholePrefixes(const UniversalTransformer& model, const Memory* memory, const dist::Sequences& sequences,
                dist::Communicator& group)
      : model_(model), memory_(memory), sequences_(sequences), group_(group) {}

  Decoded decode(std::int64_t steps, const DecodingOptions& options) {
    Outputs outputs(sequences_.ids.size());
    std::vector<bool> ended(outputs.size(), false);
    for (std::int64_t length = 1; length <= options.longest && std::ranges::find(ended, false) != ended.end();
         ++length) {
      const at::Tensor symbols = next_symbols_of_all(outputs, length, steps);
      for (std::size_t index = 0; index < outputs.size(); ++index) {
        outputs[index].push_back(symbols[static_cast<std::int64_t>(index)].item<std::int64_t>());
        if (outputs[index].back() == options.end_of_sequence) ended[index] = true;
      }
    }
    return {std::move(outputs), {}, updates_};
  }

 private:
  /// The decoder's share of the outputs so far, shifted by one: `length` rows a sequence.
  Batch prefixes(const Outputs& outputs, std::int64_t length) {
    Batch batch;
    std::ranges::fill(sequences_.lengths, length);
    batch.target = dist::make_exchange(sequences_, group_);
    const dist::Rows& rows = batch.target->local();
    const auto* position = rows.position.const_data_ptr<std::int64_t>();
    std::vector<std::int64_t> previous;
    for (std::size_t index = 0; index < outputs.size(); ++index)
      for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
        previous.push_back(position[row] == 0 ? -1 : outputs[index][static_cast<std::size_t>(position[row] - 1)]);
    batch.target_previous = at::tensor(previous, at::kLong).to(group_.device());
    batch.target_position = rows.position.to(group_.device());
    return batch;
  }

  /// One rank of the group holds every sequence's last row. [sequences] int64
  at::Tensor next_symbols_of_all(const Outputs& outputs, std::int64_t length, std::int64_t steps) {
    const Batch batch = prefixes(outputs, length);
    const auto [states, updates, cost] = model_.decode(model_.embed_target(batch), memory_, batch, steps, {});
    updates_ = updates.cpu();
    const dist::Rows& rows = batch.target->local();
    at::Tensor symbols = at::zeros({rows.sequences()}, at::kLong);
    if (dist::owner(length - 1, length, group_.size()) == group_.rank()) {
      const auto ends = at::tensor(std::vector<std::int64_t>(rows.offsets.begin() + 1, rows.offsets.end()), at::kLong);
      symbols = model_.logits(states.index_select(0, (ends - 1).to(group_.device()))).argmax(1).cpu();
    }
    group_.all_reduce_sum(symbols, dist::Purpose::control);
    return symbols;
  }

  const UniversalTransformer& model_;
  const Memory* memory_;
  dist::Sequences sequences_;
  dist::Communicator& group_;
  at::Tensor updates_ = at::empty({0}, at::kLong);  // of the last pass
};

}  // namespace

Decoded decode_greedily(const UniversalTransformer& model, const Batch& batch, const dist::Sequences& sequences,
                        const Steps& steps, const DecodingOptions& options, dist::Communicator& group) {
  const at::NoGradGuard no_graph;
  Revised encoded;
  std::optional<Memory> memory;
  if (batch.source) {
    encoded = model.encode(model.embed_source(batch), batch, steps.encoder, {});
    memory = model.decoder().block().remember(encoded.state, *batch.source);
  }
  const HaltingOptions& halting = model.options().halting;
  Decoded decoded;
  if (halting.decoder != Halting::none && halting.kind == ActKind::global) {
    decoded = WholePrefixes(model, memory ? &*memory : nullptr, sequences, group).decode(steps.decoder, options);
  } else {
    const auto count = static_cast<std::int64_t>(sequences.ids.size());
    const dist::Span mine = dist::share(count, group.rank(), group.size());
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(mine.end - mine.begin));
    std::iota(numbers.begin(), numbers.end(), mine.begin);
    const std::vector<std::int64_t> ids(sequences.ids.begin() + mine.begin, sequences.ids.begin() + mine.end);
    if (memory) memory = memory_of(*memory, numbers);
    decoded = decode_cached(model, memory ? &*memory : nullptr, ids, steps.decoder, options);
    decoded.outputs = gather_outputs(decoded.outputs, mine.begin, sequences.ids.size(), options.longest, group);
  }
  cut_at_end(decoded.outputs, options.end_of_sequence);
  decoded.encoder_updates = encoded.updates;
  return decoded;
}

}  // namespace ut::core
