#include "core/decoding.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace ut::core {
namespace {

using Outputs = std::vector<std::vector<std::int64_t>>;

/// The decoder's share of the outputs so far, shifted by one: `length` rows a sequence.
void set_target(Batch& batch, const Outputs& outputs, std::int64_t length, dist::Sequences sequences,
                dist::Communicator& group) {
  std::ranges::fill(sequences.lengths, length);
  batch.target = dist::make_all_gather_exchange(sequences, group);
  const dist::Rows& rows = batch.target->local();
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> previous;
  for (std::size_t index = 0; index < outputs.size(); ++index)
    for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
      previous.push_back(position[row] == 0 ? -1 : outputs[index][static_cast<std::size_t>(position[row] - 1)]);
  batch.target_previous = at::tensor(previous, at::kLong);
  batch.target_position = rows.position;
}

/// The most likely symbol after each sequence's last row, which one rank of the group holds. [sequences] int64
at::Tensor next_symbols(const UniversalTransformer& model, const Batch& batch, const at::Tensor& states,
                        std::int64_t length, dist::Communicator& group) {
  const dist::Rows& rows = batch.target->local();
  at::Tensor symbols = at::zeros({rows.sequences()}, at::kLong);
  if (dist::owner(length - 1, length, group.size()) == group.rank()) {
    const auto ends = at::tensor(std::vector<std::int64_t>(rows.offsets.begin() + 1, rows.offsets.end()), at::kLong);
    symbols = model.logits(states.index_select(0, ends - 1)).argmax(1);
  }
  group.all_reduce_sum(symbols, dist::Purpose::control);
  return symbols;
}

}  // namespace

Outputs decode_greedily(const UniversalTransformer& model, const Batch& source, const dist::Sequences& sequences,
                        const Steps& steps, const DecodingOptions& options, dist::Communicator& group) {
  const at::NoGradGuard no_graph;
  Batch batch = source;
  const at::Tensor encoded = model.encode(model.embed_source(batch), batch, steps.encoder, {});
  const auto keys_values = model.decoder().block().remember(encoded, *batch.source, batch.source->local()).keys_values;
  Outputs outputs(sequences.ids.size());
  std::vector<bool> ended(outputs.size(), false);
  for (std::int64_t length = 1; length <= options.longest && std::ranges::find(ended, false) != ended.end(); ++length) {
    set_target(batch, outputs, length, sequences, group);
    const Memory memory{keys_values, AttentionLayout(batch.target->local(), batch.source->all(), false)};
    const at::Tensor states = model.decode(model.embed_target(batch), memory, batch, steps.decoder, {});
    const at::Tensor symbols = next_symbols(model, batch, states, length, group);
    for (std::size_t index = 0; index < outputs.size(); ++index) {
      outputs[index].push_back(symbols[static_cast<std::int64_t>(index)].item<std::int64_t>());
      if (outputs[index].back() == options.end_of_sequence) ended[index] = true;
    }
  }
  for (auto& output : outputs) output.erase(std::ranges::find(output, options.end_of_sequence), output.end());
  return outputs;
}

}  // namespace ut::core
