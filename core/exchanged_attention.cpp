#include "core/exchanged_attention.h"

#include <ATen/ATen.h>

#include <memory>
#include <vector>

#include "dist/differentiable.h"
#include "dist/heads.h"
#include "dist/rows_by_rank.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

/// Attends to all keys at once, when they have arrived.
class GatheredAttention final : public ExchangedAttention {
 public:
  GatheredAttention(const dist::SequenceExchange& exchange, bool causal)
      : exchange_(exchange), layout_(exchange.local(), exchange.all(), causal, exchange.holdings().group->device()) {}

  at::Tensor attend(const at::Tensor& sent, const AttentionCall& call) const override {
    const dist::PendingTensor coming = exchange_.start_gather(sent);
    const at::Tensor query = call.query();
    return layout_.attend(query, call.keys_values(coming()), call);
  }

 private:
  const dist::SequenceExchange& exchange_;
  AttentionLayout layout_;
};

/// Attends to one rank's keys after another's, while the next are on their way. The backward pass goes over them in
/// reverse, while the gradients of those it has done are on their way.
class RowAttentionByBlocks final : public ExchangedAttention {
 public:
  RowAttentionByBlocks(const dist::SequenceExchange& exchange, bool causal) : holdings_(exchange.holdings()) {
    const int ranks = holdings_.group->size();
    for (int rank = 0; rank < ranks; ++rank)
      spans_.push_back(row_spans(exchange.local(),
                                 dist::rows_of(holdings_.sequences, rank, ranks, holdings_.options.cut), causal, {},
                                 holdings_.group->device()));
  }

  at::Tensor attend(const at::Tensor& sent, const AttentionCall& call) const override {
    const auto blocks = dist::start_rows_by_rank(sent, holdings_.counts, holdings_.options.form, *holdings_.group);
    at::Tensor node = call.query();
    const auto back = std::make_shared<Backward>(RowAttention(node, call));
    while (const auto block = blocks->next()) {
      const at::Tensor keys_values = call.keys_values(block->rows);
      const auto& spans = spans_[static_cast<std::size_t>(block->rank)];
      back->attention.attend_to(keys_values, *spans);
      node = after(node, keys_values, spans, back, block->rank == holdings_.group->rank());
    }
    return dist::with_backward(back->attention.output(), {node},
                               [](const at::Tensor& gradient) { return std::vector<at::Tensor>{gradient}; });
  }

 private:
  struct Backward {
    RowAttention attention;
    at::Tensor query_gradient;  // over the blocks that the backward pass has reached so far
  };

  /// A block of keys and values as a node of the autograd graph. Its input is the node `before`; that of the first
  /// block is the queries. Autograd reaches the last block first. Weights are recomputed from the log_sum over all
  /// blocks, so every block needs the gradient of the final output, unchanged: each node hands it on and adds to the
  /// queries' gradient, which the first block's node, reached last, returns. The output is complete only after the last
  /// block; until then nodes show the queries, which have its shape and type, and nobody reads them.
  static at::Tensor after(const at::Tensor& before, const at::Tensor& keys_values,
                          const std::shared_ptr<const RowSpans>& spans, const std::shared_ptr<Backward>& back,
                          bool first) {
    return dist::with_backward(
        before, {before, keys_values},
        [seen = keys_values.detach(), spans, back, first](const at::Tensor& gradient) -> std::vector<at::Tensor> {
          at::Tensor of_block;
          back->attention.backward(gradient, seen, *spans, back->query_gradient, of_block);
          return {first ? back->query_gradient.to(seen.scalar_type()) : gradient, of_block.to(seen.scalar_type())};
        });
  }

  const dist::Holdings& holdings_;
  std::vector<std::shared_ptr<const RowSpans>> spans_;  // [ranks]: of that rank's keys
};

/// For a table in which each row's query, key and value follow one another: the indices [3 * rows] int64 of all
/// queries, then of each key before its value, with the rows in the order `order` [rows] int64.
at::Tensor queries_before_keys_values(const at::Tensor& order) {
  const at::Tensor query = order * 3;
  return at::cat({query, at::stack({query + 1, query + 2}, 1).flatten()});
}

/// Attends to all keys, each rank in some of the heads.
class AttentionByHeads final : public ExchangedAttention {
 public:
  AttentionByHeads(const dist::SequenceExchange& exchange, bool causal)
      : holdings_(exchange.holdings()),
        layout_(exchange.all(), exchange.all(), causal, holdings_.group->device()),
        row_of_place_(dist::inverse_permutation(holdings_.order)),
        queries_then_keys_values_(queries_before_keys_values(holdings_.order)) {}

  at::Tensor attend(const at::Tensor& sent, const AttentionCall& call) const override {
    const at::Tensor query = call.query();
    dist::Communicator& group = *holdings_.group;
    const base::Span mine = dist::my_heads(call.heads, group);
    const std::int64_t heads = mine.end - mine.begin;
    const std::int64_t columns = heads * (query.size(1) / call.heads);
    const at::Tensor all =
        dist::to_heads(at::cat({query, call.keys_values(sent)}, 1), 3, call.heads, holdings_.counts, group);
    const std::int64_t rows = all.size(0);
    const auto ordered =
        dist::select_rows(all.view({rows * 3, columns}), queries_then_keys_values_).split_with_sizes({rows, rows * 2});
    const at::Tensor seen =
        layout_.attend(ordered[0], ordered[1].view({rows, columns * 2}),
                       {heads, call.dropout_rate, call.dropout.with_first_head(mine.begin), call.recomputed});
    return dist::from_heads(dist::select_rows(seen, row_of_place_), call.heads, holdings_.counts, group);
  }

 private:
  const dist::Holdings& holdings_;
  AttentionLayout layout_;
  at::Tensor row_of_place_;              // [all rows] int64: the inverse of holdings_.order
  at::Tensor queries_then_keys_values_;  // [3 * all rows] int64: of the ranks' rows, in holdings_.order
};

}  // namespace

std::unique_ptr<ExchangedAttention> make_exchanged_attention(const dist::SequenceExchange& exchange, bool causal,
                                                             const HeadKind& head) {
  const dist::Holdings& holdings = exchange.holdings();
  switch (holdings.options.form) {
    case dist::ExchangeForm::broadcast:
    case dist::ExchangeForm::ring:
      if (has_row_attention(holdings.group->device(), head.type, head.columns))
        return std::make_unique<RowAttentionByBlocks>(exchange, causal);
      break;
    case dist::ExchangeForm::heads:
      return std::make_unique<AttentionByHeads>(exchange, causal);
    case dist::ExchangeForm::all_gather:
      break;
  }
  return std::make_unique<GatheredAttention>(exchange, causal);
}

}  // namespace ut::core
