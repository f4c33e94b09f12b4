#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/kernels/row_threads.h"
#include "dist/rows.h"

namespace ut::core {

/// The places of a stack at which random numbers are drawn: dropout's, and noise in the halting unit's stead.
enum class Site : std::uint32_t {
  input,
  self_attention_weights,
  self_attention_output,
  cross_attention_weights,
  cross_attention_output,
  transition_hidden,
  transition_output,
  halting,
};

/// Bits of DropoutKey::place that its parts have, from the lowest; the last is the stack's. What needs more would draw
/// another's numbers.
constexpr int site_bits = 4;
constexpr int layer_bits = 8;
constexpr int step_bits = 19;

/// What dropout's random numbers are keyed on, beside the row's identity and the column: seed, update, stack, step,
/// layer and site. So they do not depend on which rank holds the row, nor on what was drawn before.
struct DropoutKey {
  std::uint64_t update = 0;  // seed and update
  bool active = false;       // false outside training
  std::uint32_t place = 0;
  std::int64_t first_head = 0;  // of attention weights that are of some heads only

  static DropoutKey for_update(std::uint64_t seed, std::int64_t update);
  DropoutKey with_stack(std::uint32_t stack) const { return with(stack, site_bits + layer_bits + step_bits); }
  DropoutKey with_step(std::int64_t step) const {
    return with(static_cast<std::uint32_t>(step), site_bits + layer_bits);
  }
  DropoutKey with_layer(std::size_t layer) const { return with(static_cast<std::uint32_t>(layer), site_bits); }
  DropoutKey with_site(Site site) const { return with(static_cast<std::uint32_t>(site), 0); }
  DropoutKey with_first_head(std::int64_t head) const { return {update, active, place, head}; }

 private:
  DropoutKey with(std::uint32_t part, int bit) const { return {update, active, place | part << bit, first_head}; }
};

/// Who the rows of attention weights are.
struct QueryIdentities {
  std::vector<std::int64_t> sequence;   // [sequences * query slots]
  std::vector<std::int64_t> position;   // [sequences * query slots]
  std::vector<std::int64_t> first_key;  // [sequences]: the position of the first key slot
  at::Tensor on_device = {};            // the three one after the other, int64, where a device's kernels read them
};

/// What decides which of a row's columns are kept, of no row yet.
RowDraw row_draw(const DropoutKey& key, double rate);

/// Who the rows are, in tables that are read on `device` and live as long as `rows` or a copy of it.
RowIdentities identities_of(const dist::Rows& rows, at::Device device);

/// Sets each element to zero with probability `rate`, to a 65536th, and divides the rest by 1 - rate. `x` [rows,
/// columns].
at::Tensor dropout(const at::Tensor& x, double rate, const DropoutKey& key, const dist::Rows& rows);

/// The same for attention weights [sequences, heads, query slots, key slots]. Key slot j of sequence s is its position
/// first_key[s] + j.
at::Tensor dropout_attention(const at::Tensor& weights, double rate, const DropoutKey& key,
                             std::shared_ptr<const QueryIdentities> queries);

}  // namespace ut::core
