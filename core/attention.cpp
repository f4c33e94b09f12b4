#include "core/attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace ut::core {
namespace {

/// Finite, so that a padded query that sees nothing gives no NaN; exp() of it is exactly zero beside any real logit.
constexpr float unseen = -1e30F;

std::int64_t longest(const dist::Rows& rows) {
  std::int64_t most = 0;
  for (std::int64_t index = 0; index < rows.sequences(); ++index) {
    const auto place = static_cast<std::size_t>(index);
    most = std::max(most, rows.offsets[place + 1] - rows.offsets[place]);
  }
  return most;
}

bool is_rectangular(const dist::Rows& rows, std::int64_t slots) { return rows.count() == rows.sequences() * slots; }

/// [sequences * slots]: the row in each slot, 0 in empty slots.
std::vector<std::int64_t> row_of_slot(const dist::Rows& rows, std::int64_t slots) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(rows.sequences() * slots), 0);
  for (std::size_t index = 0; index + 1 < rows.offsets.size(); ++index)
    for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
      result[index * static_cast<std::size_t>(slots) + static_cast<std::size_t>(row - rows.offsets[index])] = row;
  return result;
}

/// [rows]: the slot of each row.
std::vector<std::int64_t> slot_of_row(const dist::Rows& rows, std::int64_t slots) {
  std::vector<std::int64_t> result;
  for (std::size_t index = 0; index + 1 < rows.offsets.size(); ++index)
    for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
      result.push_back(static_cast<std::int64_t>(index) * slots + row - rows.offsets[index]);
  return result;
}

std::vector<std::int64_t> in_slots(const at::Tensor& of_rows, const std::vector<std::int64_t>& rows) {
  const auto* data = of_rows.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> result;
  for (const std::int64_t row : rows) result.push_back(of_rows.numel() == 0 ? 0 : data[row]);
  return result;
}

/// Rows [rows, d], put into slots, as [sequences, heads, slots, d / heads].
at::Tensor by_head(const at::Tensor& rows, const at::Tensor& row_of_slot, std::int64_t sequences, std::int64_t slots,
                   std::int64_t heads) {
  const at::Tensor slotted = row_of_slot.defined() ? rows.index_select(0, row_of_slot) : rows;
  return slotted.reshape({sequences, slots, heads, rows.size(1) / heads}).transpose(1, 2);
}

}  // namespace

AttentionLayout::AttentionLayout(const dist::Rows& queries, const dist::Rows& keys, bool causal,
                                 const std::optional<std::span<const std::int64_t>>& place)
    : sequences_(queries.sequences()), query_slots_(longest(queries)), key_slots_(longest(keys)) {
  const auto query_rows = row_of_slot(queries, query_slots_);
  sequence_ = in_slots(queries.sequence, query_rows);
  position_ = in_slots(queries.position, query_rows);
  if (!is_rectangular(queries, query_slots_)) {
    query_row_of_slot_ = at::tensor(query_rows, at::kLong);
    slot_of_query_row_ = at::tensor(slot_of_row(queries, query_slots_), at::kLong);
  }
  const bool keys_are_rectangular = is_rectangular(keys, key_slots_);
  if (!keys_are_rectangular || place) {
    auto key_rows = row_of_slot(keys, key_slots_);
    if (place)
      for (auto& row : key_rows) row = (*place)[static_cast<std::size_t>(row)];
    key_row_of_slot_ = at::tensor(key_rows, at::kLong);
  }
  if (causal || !keys_are_rectangular) bias_ = bias(keys, causal);
}

at::Tensor AttentionLayout::bias(const dist::Rows& keys, bool causal) const {
  const std::int64_t rows = causal ? query_slots_ : 1;
  at::Tensor result = at::zeros({sequences_, 1, rows, key_slots_}, at::kFloat);
  auto* value = result.mutable_data_ptr<float>();
  const auto* key_position = keys.position.const_data_ptr<std::int64_t>();
  for (std::int64_t index = 0; index < sequences_; ++index) {
    const auto first_key = keys.offsets[static_cast<std::size_t>(index)];
    const auto key_count = keys.offsets[static_cast<std::size_t>(index) + 1] - first_key;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto position = causal ? position_[static_cast<std::size_t>(index * query_slots_ + row)] : 0;
      for (std::int64_t slot = 0; slot < key_slots_; ++slot, ++value)
        if (slot >= key_count || (causal && key_position[first_key + slot] > position)) *value = unseen;
    }
  }
  return result;
}

at::Tensor AttentionLayout::attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                   std::int64_t heads, double dropout_rate, const DropoutKey& dropout) const {
  const std::int64_t head_columns = query.size(1) / heads;
  const double scale = 1 / std::sqrt(static_cast<double>(head_columns));
  const at::Tensor q = by_head(query * scale, query_row_of_slot_, sequences_, query_slots_, heads);
  const at::Tensor k = by_head(key, key_row_of_slot_, sequences_, key_slots_, heads);
  const at::Tensor v = by_head(value, key_row_of_slot_, sequences_, key_slots_, heads);
  at::Tensor logits = at::matmul(q, k.transpose(2, 3));  // [sequences, heads, query slots, key slots]
  if (bias_.defined()) logits = logits + bias_;
  const at::Tensor weights = dropout_attention(at::softmax(logits, -1), dropout_rate, dropout, sequence_, position_);
  const at::Tensor slotted = at::matmul(weights, v).transpose(1, 2).reshape({sequences_ * query_slots_, query.size(1)});
  return slot_of_query_row_.defined() ? slotted.index_select(0, slot_of_query_row_) : slotted;
}

SelfAttention::SelfAttention(Parameters& parameters, const std::string& name, const ModelOptions& options)
    : query_key_value_(parameters.add_kernel(name + ".query_key_value", {options.d_model, 3 * options.d_model},
                                             options.d_model, options.d_model)),
      output_(parameters.add_kernel(name + ".output", {options.d_model, options.d_model}, options.d_model,
                                    options.d_model)) {}

std::pair<at::Tensor, at::Tensor> SelfAttention::project(const at::Tensor& x) const {
  const at::Tensor projected = at::mm(x, query_key_value_);  // [rows, 3d]
  const std::int64_t d = x.size(1);
  return {projected.narrow(1, 0, d), projected.narrow(1, d, 2 * d)};
}

at::Tensor SelfAttention::keys_values(const at::Tensor& x) const {
  return at::mm(x, query_key_value_.narrow(1, x.size(1), 2 * x.size(1)));
}

at::Tensor SelfAttention::combine(const at::Tensor& heads) const { return at::mm(heads, output_); }

CrossAttention::CrossAttention(Parameters& parameters, const std::string& name, const ModelOptions& options)
    : query_(
          parameters.add_kernel(name + ".query", {options.d_model, options.d_model}, options.d_model, options.d_model)),
      key_value_(parameters.add_kernel(name + ".key_value", {options.d_model, 2 * options.d_model}, options.d_model,
                                       options.d_model)),
      output_(parameters.add_kernel(name + ".output", {options.d_model, options.d_model}, options.d_model,
                                    options.d_model)) {}

at::Tensor CrossAttention::queries(const at::Tensor& x) const { return at::mm(x, query_); }
at::Tensor CrossAttention::keys_values(const at::Tensor& memory) const { return at::mm(memory, key_value_); }
at::Tensor CrossAttention::combine(const at::Tensor& heads) const { return at::mm(heads, output_); }

}  // namespace ut::core
