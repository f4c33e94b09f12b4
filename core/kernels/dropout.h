#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/kernels/row_threads.h"
#include "dist/rows.h"

namespace ut::core {

/// The places of a stack at which random numbers are drawn: for dropout, and for noise instead of a halting unit.
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

/// How many bits of DropoutKey::place its parts have, from the lowest; the one left is the stack's. A part that needed
/// more would draw the numbers of another place.
constexpr int site_bits = 4;
constexpr int layer_bits = 8;
constexpr int step_bits = 19;

/// What dropout's random numbers are keyed on, beside the row's identity and the column: seed, update, stack, step,
/// layer and site. So they depend neither on which rank holds the row nor on what was drawn before.
struct DropoutKey {
  std::uint64_t update = 0;     // a hash of seed and update
  bool active = false;          // false outside training
  std::uint32_t place = 0;      // stack, step, layer and site
  std::int64_t first_head = 0;  // the number of head 0 of attention weights that are of some heads only

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

/// The identities of the rows of attention weights.
struct QueryIdentities {
  std::vector<std::int64_t> sequence;   // [sequences * query slots]
  std::vector<std::int64_t> position;   // [sequences * query slots]
  std::vector<std::int64_t> first_key;  // [sequences]: the position of the first key slot
  at::Tensor on_device = {};            // the three one after the other, int64, on a device whose kernels read them
};

/// Decides which of a row's columns are kept. Not bound to a row yet: DropoutDraw::of_row() does that.
DropoutDraw dropout_draw(const DropoutKey& key, double rate);

/// The rows' identities, in tables that can be read on `device` and live as long as `rows` or a copy of it.
RowIdentities identities_of(const dist::Rows& rows, at::Device device);

/// Sets each element of `x` [rows, columns] to zero with probability `rate`, to the nearest 65536th, and divides the
/// rest by 1 - rate. Returns `x` itself if `key` is not active.
at::Tensor dropout(const at::Tensor& x, double rate, const DropoutKey& key, const dist::Rows& rows);

/// The same for attention weights [sequences, heads, query slots, key slots]. Key slot j of sequence s is its position
/// first_key[s] + j.
at::Tensor dropout_attention(const at::Tensor& weights, double rate, const DropoutKey& key,
                             std::shared_ptr<const QueryIdentities> queries);

}  // namespace ut::core
