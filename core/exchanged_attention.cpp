#include "core/exchanged_attention.h"

#include <ATen/ATen.h>

#include <optional>
#include <utility>
#include <vector>

#include "dist/differentiable.h"
#include "dist/heads.h"
#include "dist/on_device.h"
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
    at::Tensor output = call.query();
    const auto back = std::make_shared<Backward>(RowAttention(output, call));
    while (const auto block = blocks->next()) {
      const at::Tensor keys_values = call.keys_values(block->rows);
      const auto& spans = spans_[static_cast<std::size_t>(block->rank)];
      back->attention.attend_to(keys_values, *spans);
      output = after(output, keys_values, spans, back, block->rank == holdings_.group->rank());
    }
    return output;
  }

 private:
  struct Backward {
    RowAttention attention;
    at::Tensor query_gradient;  // over the blocks that the backward pass has reached so far
  };

  /// A block of keys and values as a node of the autograd graph. Its input is the node `before`; that of the first
  /// block is the queries. Autograd reaches the last block first. Weights are recomputed from the log_sum over all
  /// blocks, so every block needs the gradient of the final output, unchanged: each node hands it on and adds to the
  /// queries' gradient, which the first block's node, reached last, returns. All nodes have the same output tensor,
  /// which each block has changed; only the last node's is read.
  static at::Tensor after(const at::Tensor& before, const at::Tensor& keys_values,
                          const std::shared_ptr<const RowSpans>& spans, const std::shared_ptr<Backward>& back,
                          bool first) {
    return dist::with_backward(
        back->attention.output(), {before, keys_values},
        [seen = keys_values.detach(), spans, back, first](const at::Tensor& gradient) -> std::vector<at::Tensor> {
          at::Tensor of_block;
          back->attention.backward(gradient, seen, *spans, back->query_gradient, of_block);
          return {first ? back->query_gradient.to(seen.scalar_type()) : gradient, of_block.to(seen.scalar_type())};
        });
  }

  const dist::Holdings& holdings_;
  std::vector<std::shared_ptr<const RowSpans>> spans_;  // [ranks]: of that rank's keys
};

/// The same, composed of LibTorch's operations. With a zigzag cut each rank has two spans, and each span of queries
/// meets each span of keys. Under a causal mask, spans of keys that lie wholly after the queries are left out.
class SlottedAttentionByBlocks final : public ExchangedAttention {
 public:
  SlottedAttentionByBlocks(const dist::Holdings& holdings, bool causal) : holdings_(holdings) {
    const at::Device device = holdings.group->device();
    const auto spans_of = [&](int rank) {
      return dist::chunks_of(holdings.sequences, rank, holdings.group->size(), holdings.options.cut);
    };
    mine_ = spans_of(holdings.group->rank());
    for (int rank = 0; rank < holdings.group->size(); ++rank) {
      index_.emplace_back();
      layouts_.emplace_back();
      for (const dist::Chunk& keys : spans_of(rank)) {
        index_.back().push_back(dist::on_device(keys.index, device));
        layouts_.back().emplace_back();
        for (const dist::Chunk& queries : mine_) {
          auto& layout = layouts_.back().back().emplace_back();
          if (keys.rows.count() > 0 && !(causal && keys.number > queries.number))
            layout.emplace(queries.rows, keys.rows, causal && keys.number == queries.number, device);
        }
      }
    }
    place_of_row_ = dist::inverse_permutation(at::cat(own_index()));
  }

  at::Tensor attend(const at::Tensor& sent, const AttentionCall& call) const override {
    const auto blocks = dist::start_rows_by_rank(sent, holdings_.counts, holdings_.options.form, *holdings_.group);
    const at::Tensor query = call.query();
    const std::vector<at::Tensor> queries = queries_by_span(query, call.heads);
    std::vector<std::vector<PartOfAttention>> parts(mine_.size());
    std::vector<at::Tensor> all_sent;
    while (const auto block = blocks->next()) {
      all_sent.push_back(block->rows);
      meet(*block, queries, call, parts);
    }
    std::vector<at::Tensor> outputs;
    for (std::size_t span = 0; span < mine_.size(); ++span)
      outputs.push_back(parts[span].empty() ? at::zeros_like(queries_of(query, span))
                                            : own_layout(span).rows_of_heads(whole_attention(parts[span]), call.heads));
    return dist::keep_in_backward(dist::select_rows(at::cat(outputs), place_of_row_), all_sent);
  }

 private:
  std::size_t own_rank() const { return static_cast<std::size_t>(holdings_.group->rank()); }
  const SlottedAttention& own_layout(std::size_t span) const { return *layouts_[own_rank()][span][span]; }
  const std::vector<at::Tensor>& own_index() const { return index_[own_rank()]; }
  at::Tensor queries_of(const at::Tensor& query, std::size_t span) const {
    return dist::select_rows(query, own_index()[span]);
  }

  std::vector<at::Tensor> queries_by_span(const at::Tensor& query, std::int64_t heads) const {
    std::vector<at::Tensor> result;
    for (std::size_t span = 0; span < mine_.size(); ++span)
      result.push_back(mine_[span].rows.count() == 0
                           ? at::Tensor()
                           : own_layout(span).queries_by_head(queries_of(query, span), heads));
    return result;
  }

  /// Adds to `parts` what each of this rank's spans sees in the block of a rank.
  void meet(const dist::RankRows& block, const std::vector<at::Tensor>& queries, const AttentionCall& call,
            std::vector<std::vector<PartOfAttention>>& parts) const {
    const auto rank = static_cast<std::size_t>(block.rank);
    at::Tensor keys_values;
    for (std::size_t keys = 0; keys < index_[rank].size(); ++keys)
      for (std::size_t span = 0; span < mine_.size(); ++span) {
        const auto& layout = layouts_[rank][keys][span];
        if (!layout || !queries[span].defined()) continue;
        if (!keys_values.defined()) keys_values = call.keys_values(block.rows);
        const at::Tensor seen = dist::select_rows(keys_values, index_[rank][keys]);
        parts[span].push_back(layout->attend_in_part(queries[span], seen, call));
      }
  }

  const dist::Holdings& holdings_;
  std::vector<dist::Chunk> mine_;
  at::Tensor place_of_row_;                     // [local rows] int64: place when the spans follow one another
  std::vector<std::vector<at::Tensor>> index_;  // [ranks][spans]: which of the rank's rows are in the span
  std::vector<std::vector<std::vector<std::optional<SlottedAttention>>>> layouts_;  // [ranks][their spans][my spans]
};

/// Attends to one rank's keys after another's: by RowAttention if it has kernels for heads of that width, else by
/// LibTorch's operations.
class AttentionByBlocks final : public ExchangedAttention {
 public:
  AttentionByBlocks(const dist::SequenceExchange& exchange, bool causal) : exchange_(exchange), causal_(causal) {}

  at::Tensor attend(const at::Tensor& sent, const AttentionCall& call) const override {
    if (!attention_) attention_ = make(sent, call);
    return attention_->attend(sent, call);
  }

 private:
  std::unique_ptr<ExchangedAttention> make(const at::Tensor& sent, const AttentionCall& call) const {
    const bool are_states = exchange_.holdings().options.sent == dist::Sent::states;
    const std::int64_t d = are_states ? sent.size(1) : sent.size(1) / 2;
    if (has_row_attention(sent.device(), sent.scalar_type(), d / call.heads))
      return std::make_unique<RowAttentionByBlocks>(exchange_, causal_);
    return std::make_unique<SlottedAttentionByBlocks>(exchange_.holdings(), causal_);
  }

  const dist::SequenceExchange& exchange_;
  bool causal_;
  mutable std::unique_ptr<ExchangedAttention> attention_;  // made at the first call, which shows type and width
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

std::unique_ptr<ExchangedAttention> make_exchanged_attention(const dist::SequenceExchange& exchange, bool causal) {
  switch (exchange.holdings().options.form) {
    case dist::ExchangeForm::broadcast:
    case dist::ExchangeForm::ring:
      return std::make_unique<AttentionByBlocks>(exchange, causal);
    case dist::ExchangeForm::heads:
      return std::make_unique<AttentionByHeads>(exchange, causal);
    case dist::ExchangeForm::all_gather:
      break;
  }
  return std::make_unique<GatheredAttention>(exchange, causal);
}

}  // namespace ut::core
