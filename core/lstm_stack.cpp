#include "core/lstm_stack.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

/// Rows in the order in which LibTorch wants sequences of different lengths: position by position, longer sequences
/// first.
struct PackedOrder {
  at::Tensor rows;         // [rows] int64: which row stands where
  at::Tensor places;       // [rows] int64: where each row stands
  at::Tensor sequences;    // [sequences] int64: which sequence stands where
  at::Tensor numbers;      // [sequences] int64: where each sequence stands
  at::Tensor batch_sizes;  // [positions] int64, on the host: how many sequences have this position

  PackedOrder(const dist::Rows& of, at::Device device) {
    const auto length = [&of](std::int64_t sequence) {
      const auto index = static_cast<std::size_t>(sequence);
      return of.offsets[index + 1] - of.offsets[index];
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(of.sequences()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&length](std::int64_t sequence) { return std::pair(-length(sequence), sequence); });
    std::vector<std::int64_t> packed;
    std::vector<std::int64_t> sizes;
    for (std::int64_t position = 0; position < dist::longest(of); ++position) {
      const auto before = packed.size();
      for (std::size_t number = 0; number < order.size() && length(order[number]) > position; ++number)
        packed.push_back(of.offsets[static_cast<std::size_t>(order[number])] + position);
      sizes.push_back(static_cast<std::int64_t>(packed.size() - before));
    }
    const at::Tensor rows_here = at::tensor(packed, at::kLong);
    const at::Tensor sequences_here = at::tensor(order, at::kLong);
    rows = dist::on_device(rows_here, device);
    places = dist::on_device(dist::inverse_permutation(rows_here), device);
    sequences = dist::on_device(sequences_here, device);
    numbers = dist::on_device(dist::inverse_permutation(sequences_here), device);
    batch_sizes = at::tensor(sizes, at::kLong);
  }
};

}  // namespace

LstmState LstmState::select(const at::Tensor& sequences) const {
  LstmState part;
  for (const at::Tensor& layer : hidden) part.hidden.push_back(layer.index_select(0, sequences));
  for (const at::Tensor& layer : cell) part.cell.push_back(layer.index_select(0, sequences));
  return part;
}

LstmStack::LstmStack(Parameters& parameters, const std::string& name, const ModelOptions& options) : options_(options) {
  const std::int64_t d = options.d_model;
  for (std::int64_t layer = 0; layer < options.lstm_layers; ++layer) {
    const auto named = [&](const char* part) { return fmt::format("{}.layer{}.{}", name, layer, part); };
    layers_.push_back({parameters.add_kernel(named("input"), {4 * d, d}, d, d),
                       parameters.add_kernel(named("hidden"), {4 * d, d}, d, d),
                       parameters.add_constant(named("bias"), {4 * d}, 0)});
  }
  forget_bias_ = at::zeros({4 * d}, layers_.front().bias.options().requires_grad(false));
  forget_bias_.narrow(0, d, d).fill_(1);
}

LstmStack::Read LstmStack::read(const at::Tensor& input, const dist::Rows& rows, const LstmState& start,
                                const DropoutKey& dropout) const {
  Read result{core::dropout(input, options_.input_dropout, dropout.with_site(Site::input), rows),
              start.hidden.empty() ? blank(rows.sequences()) : start};
  const PackedOrder order(rows, input.device());
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    at::Tensor& hidden = result.end.hidden[index];
    at::Tensor& cell = result.end.cell[index];
    if (rows.count() > 0) {
      const auto first = [&order](const at::Tensor& state) {
        return state.index_select(0, order.sequences).unsqueeze(0);  // [1, sequences, d]
      };
      // One layer at a time, so that our dropout is used between layers, not LibTorch's.
      const auto [outputs, last_hidden, last_cell] =
          at::lstm(result.outputs.index_select(0, order.rows), order.batch_sizes, {first(hidden), first(cell)},
                   {layer.input_weights, layer.hidden_weights, layer.bias, forget_bias_}, true, 1, 0.0,
                   at::GradMode::is_enabled(), false);
      hidden = last_hidden.squeeze(0).index_select(0, order.numbers);
      cell = last_cell.squeeze(0).index_select(0, order.numbers);
      result.outputs = core::dropout(outputs.index_select(0, order.places), options_.residual_dropout,
                                     dropout.with_layer(index).with_site(Site::transition_output), rows);
    }
  }
  return result;
}

LstmState LstmStack::blank(std::int64_t sequences) const {
  LstmState state;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer)
    for (auto* part : {&state.hidden, &state.cell})
      part->push_back(at::zeros({sequences, options_.d_model}, forget_bias_.options()));
  return state;
}

at::Tensor LstmStack::step(const at::Tensor& input, LstmState& state) const {
  at::Tensor output = input;
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const auto [hidden, cell] = at::lstm_cell(output, {state.hidden[index], state.cell[index]}, layer.input_weights,
                                              layer.hidden_weights, layer.bias, forget_bias_);
    state.hidden[index] = output = hidden;
    state.cell[index] = cell;
  }
  return output;
}

}  // namespace ut::core
