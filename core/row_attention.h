#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/span.h"
#include "core/attention_site.h"
#include "core/tiled_spans.h"
#include "dist/rows.h"

namespace ut::core {

/// Queries of a sequence whose weights are there at the same time.
constexpr std::int64_t queries_at_once = 64;

/// The keys of one sequence, as rows with the same distance from each to the next; their positions ascend.
struct KeySpan {
  /// Keys of successive positions.
  struct Run {
    std::int64_t first;     // key
    std::int64_t position;  // its position
    std::int64_t count;
  };

  std::int64_t row = 0;  // of the first key
  std::int64_t stride = 1;
  std::int64_t count = 0;
  std::vector<Run> runs;
};

/// Where each sequence's queries and keys stand, and who may see whom.
struct RowSpans {
  std::vector<base::Span> queries = {};     // [sequences]
  std::vector<KeySpan> keys = {};           // [sequences]
  std::vector<std::int64_t> sequence = {};  // [query rows]: identities
  std::vector<std::int64_t> position = {};  // [query rows]
  bool causal = false;                      // a query sees the keys of positions up to its own
  std::optional<TiledSpans> tiled = {};     // instead of the others, where the rows are not the host's

  std::int64_t key_count() const;
};

/// `place` [keys]: where each key stands among the rows, where that is not in this order. Nothing where a sequence's
/// keys are not evenly spaced, on the host.
std::shared_ptr<const RowSpans> row_spans(const dist::Rows& queries, const dist::Rows& keys, bool causal,
                                          const std::optional<std::span<const std::int64_t>>& place = std::nullopt,
                                          at::Device device = at::kCPU);

/// Whether heads of so many columns, of queries of this type, can be attended with so on this device.
bool has_row_attention(at::Device device, at::ScalarType type, std::int64_t columns_of_head);

/// Attention of query rows over key rows (equations 1 to 3, before W^O), the keys in one or several parts. No more of
/// the weights is ever there than a block of queries needs; the way back makes them again, and draws dropout's numbers
/// again. All is computed in dist::exact_type().
class RowAttention {
 public:
  /// `query` [query rows, d].
  RowAttention(const at::Tensor& query, const AttentionSite& site);

  /// Attends to `keys_values` [key rows, 2d], a row's key beside its value, as well.
  void meet(const at::Tensor& keys_values, const RowSpans& spans);

  /// Over all that was met, as the query's type. [query rows, d]
  at::Tensor output() const;

  /// The way back to one part, from the output's gradient: adds to the gradients of the query and of that part, which
  /// are of dist::exact_type() of the query's, and made where they are undefined.
  void go_back(const at::Tensor& gradient, const at::Tensor& keys_values, const RowSpans& spans,
               at::Tensor& query_gradient, at::Tensor& keys_values_gradient) const;

 private:
  at::ScalarType type_;  // of the query as given
  AttentionSite site_;
  at::Tensor query_;    // [query rows, d], of the exact type where that is what is computed with
  at::Tensor output_;   // [query rows, d]
  at::Tensor log_sum_;  // [query rows, heads]: the logarithm of the sum of exp(logit)
  bool met_ = false;    // any keys so far
};

}  // namespace ut::core
