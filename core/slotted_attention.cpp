#include "core/slotted_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/gpu_rows.h"
#include "dist/accumulation_type.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

/// Finite, so that a padded query that sees nothing gives no NaN; exp() of it is exactly zero beside any real logit.
constexpr float unseen = -1e30F;

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
  for (const std::int64_t row : rows) result.push_back(data[row]);
  return result;
}

/// From the row in each slot, `slots` [sequences * slots] int64 in the order of sequence and slot, to the numbers of
/// the rows' heads in the order of sequence, head and slot: [sequences * heads * slots] int64. The heads of row n have
/// the numbers n * `each` and those after it.
at::Tensor heads_of_slots(const at::Tensor& slots, std::int64_t sequences, std::int64_t heads, std::int64_t each) {
  if (slots.numel() == 0) return slots;
  return (slots.view({sequences, 1, -1}) * each + at::arange(heads, slots.options()).view({1, heads, 1})).flatten();
}

/// From each row's slot, `slot_of_row` [rows] int64 (sequence * slots + place in the sequence), to where the row's
/// heads stand among those of all slots in the order of sequence, head and slot: [rows * heads] int64, in the order of
/// row and head.
at::Tensor heads_in_slots(const at::Tensor& slot_of_row, std::int64_t slots, std::int64_t heads) {
  const at::Tensor sequence = slot_of_row.div(std::max<std::int64_t>(1, slots), "floor");  // [rows]
  const at::Tensor first = sequence * ((heads - 1) * slots) + slot_of_row;                 // of head 0
  return (first.unsqueeze(1) + at::arange(heads, first.options()) * slots).flatten();
}

}  // namespace

SlottedAttention::SlottedAttention(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                                   const KeyRows& key_rows)
    : sequences_(queries.sequences()), query_slots_(dist::longest(queries)), key_slots_(dist::longest(keys)) {
  const auto query_rows = row_of_slot(queries, query_slots_);
  QueryIdentities identities{in_slots(queries.sequence, query_rows), in_slots(queries.position, query_rows), {}};
  query_row_of_slot_ = at::tensor(query_rows, at::kLong);
  slot_of_query_row_ = at::tensor(slot_of_row(queries, query_slots_), at::kLong);
  auto row_of_key_slot = row_of_slot(keys, key_slots_);
  for (auto& row : row_of_key_slot) row = key_rows.of(row);
  key_row_of_slot_ = at::tensor(row_of_key_slot, at::kLong);
  const auto* key_position = keys.position.const_data_ptr<std::int64_t>();
  for (std::size_t index = 0; index + 1 < keys.offsets.size(); ++index)
    identities.first_key.push_back(keys.offsets[index] < keys.offsets[index + 1] ? key_position[keys.offsets[index]]
                                                                                 : 0);
  if (has_gpu_rows(device)) {
    std::vector<std::int64_t> table = identities.sequence;
    for (const auto* part : {&identities.position, &identities.first_key})
      table.insert(table.end(), part->begin(), part->end());
    identities.on_device = dist::on_device(table, device);
  }
  identities_ = std::make_shared<const QueryIdentities>(std::move(identities));
  const bool keys_fill_slots = keys.count() == keys.sequences() * key_slots_;
  if (!keys_fill_slots) slot_of_key_ = at::tensor(slot_of_row(keys, key_slots_), at::kLong);
  if (causal || !keys_fill_slots) bias_ = bias(keys, causal, device);
  for (at::Tensor* part : {&query_row_of_slot_, &slot_of_query_row_, &key_row_of_slot_, &slot_of_key_})
    if (part->defined()) *part = dist::on_device(*part, device);
}

at::Tensor SlottedAttention::bias(const dist::Rows& keys, bool causal, at::Device device) const {
  constexpr std::int64_t after_all = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> key_position(static_cast<std::size_t>(sequences_ * key_slots_), after_all);
  const auto* position = keys.position.const_data_ptr<std::int64_t>();
  for (std::size_t index = 0; index + 1 < keys.offsets.size(); ++index)
    std::copy(position + keys.offsets[index], position + keys.offsets[index + 1],
              key_position.begin() + static_cast<std::int64_t>(index) * key_slots_);
  // Compared on the device that uses it: there may be as many pairs as a sequence's length squared.
  const at::Tensor of_keys = dist::on_device(key_position, device).view({sequences_, 1, 1, key_slots_});
  const at::Tensor hidden =
      causal ? of_keys > dist::on_device(identities_->position, device).view({sequences_, 1, query_slots_, 1})
             : of_keys == after_all;
  return hidden.to(at::kFloat) * unseen;
}

at::Tensor SlottedAttention::queries_by_head(const at::Tensor& query, std::int64_t heads) const {
  const std::int64_t columns = query.size(1) / heads;
  const at::Tensor scaled = query * (1 / std::sqrt(static_cast<double>(columns)));
  const at::Tensor index = heads_of_slots(query_row_of_slot_, sequences_, heads, heads);
  const at::Tensor slotted = dist::select_rows(scaled.reshape({query.size(0) * heads, columns}), index,
                                               heads_in_slots(slot_of_query_row_, query_slots_, heads), {});
  return slotted.view({sequences_ * heads, query_slots_, columns});
}

at::Tensor SlottedAttention::masked(const at::Tensor& logits, std::int64_t heads) const {
  if (!bias_.defined()) return logits;
  return (logits.view({sequences_, heads, query_slots_, key_slots_}) + bias_).view(logits.sizes());
}

at::Tensor SlottedAttention::drop(const at::Tensor& weights, const AttentionSite& site) const {
  return dropout_attention(weights.view({sequences_, site.heads, query_slots_, key_slots_}), site.dropout_rate,
                           site.dropout, identities_)
      .view(weights.sizes());
}

at::Tensor SlottedAttention::rows_of_heads(const at::Tensor& by_head, std::int64_t heads) const {
  const at::Tensor index = heads_in_slots(slot_of_query_row_, query_slots_, heads);
  return dist::select_rows(by_head.flatten(0, 1), index).view({slot_of_query_row_.size(0), heads * by_head.size(2)});
}

std::pair<at::Tensor, at::Tensor> SlottedAttention::keys_values_by_head(const at::Tensor& keys_values,
                                                                        std::int64_t heads) const {
  const at::Tensor by_row = keys_values.contiguous().view({-1, keys_values.size(1) / (2 * heads)});
  const at::Tensor keys = heads_of_slots(key_row_of_slot_, sequences_, heads, 2 * heads);
  const at::Tensor index = at::cat({keys, keys + heads});  // [2 * sequences * heads * slots]
  at::Tensor read;
  if (slot_of_key_.defined()) {
    const at::Tensor of_keys = heads_in_slots(slot_of_key_, key_slots_, heads);
    read = at::cat({of_keys, of_keys + keys.numel()});
  }
  const at::Tensor slotted =
      dist::select_rows(by_row, index, read, read.defined() ? index.index_select(0, read) : index);
  const auto parts = slotted.view({2, sequences_ * heads, key_slots_, by_row.size(1)}).unbind(0);
  return {parts[0], parts[1]};
}

at::Tensor SlottedAttention::attend(const at::Tensor& query, const at::Tensor& keys_values,
                                    const AttentionSite& site) const {
  const at::Tensor q = queries_by_head(query, site.heads);
  const auto [k, v] = keys_values_by_head(keys_values, site.heads);
  const at::Tensor logits = masked(dist::in_accumulation_type(at::bmm(q, k.transpose(1, 2))), site.heads);
  const at::Tensor weights = drop(at::softmax(logits, -1), site);  // [sequences * heads, query slots, key slots]
  return rows_of_heads(at::bmm(weights.to(v.scalar_type()), v), site.heads);
}

}  // namespace ut::core
