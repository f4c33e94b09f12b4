#include "core/row_attention.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>

#include "core/row_kernels.h"
#include "dist/differentiable.h"

// BLAS, as LibTorch brings it: c [m, n] = alpha a b + beta c, columns one after the other.
extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* stride_a, const float* b, const int* stride_b,
            const float* beta, float* c, const int* stride_c);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* stride_a, const double* b, const int* stride_b,
            const double* beta, double* c, const int* stride_c);
}

namespace ut::core {
namespace {

constexpr std::int64_t block = 64;  // queries at a time

/// Rows of some columns of a tensor.
template <class Number>
struct Matrix {
  Number* data;
  std::int64_t stride;  // from row to row

  Number* row(std::int64_t number) const { return data + number * stride; }
  Matrix from(std::int64_t number) const { return {row(number), stride}; }
};

template <class Number>
Matrix<const Number> columns_of(const at::Tensor& rows, std::int64_t first) {
  return {rows.const_data_ptr<Number>() + first, rows.stride(0)};
}
template <class Number>
Matrix<Number> columns_to_fill(const at::Tensor& rows, std::int64_t first) {
  return {rows.mutable_data_ptr<Number>() + first, rows.stride(0)};
}

/// a and b as BLAS sees them, to which a row is a column.
template <class Number>
void gemm(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, Number alpha,
          Matrix<const Number> a, Matrix<const Number> b, Number beta, Matrix<Number> c) {
  const int sizes[] = {static_cast<int>(m),        static_cast<int>(n),        static_cast<int>(k),
                       static_cast<int>(a.stride), static_cast<int>(b.stride), static_cast<int>(c.stride)};
  if constexpr (std::is_same_v<Number, float>)
    sgemm_(&transpose_a, &transpose_b, sizes, sizes + 1, sizes + 2, &alpha, a.data, sizes + 3, b.data, sizes + 4, &beta,
           c.data, sizes + 5);
  else
    dgemm_(&transpose_a, &transpose_b, sizes, sizes + 1, sizes + 2, &alpha, a.data, sizes + 3, b.data, sizes + 4, &beta,
           c.data, sizes + 5);
}

/// c [rows, columns] = scale a [rows, inner] b^T, b [columns, inner]
template <class Number>
void multiply_by_transposed(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
                            Matrix<const Number> a, Matrix<const Number> b, Matrix<Number> c) {
  gemm<Number>('T', 'N', columns, rows, inner, scale, b, a, 0, c);
}
/// c [rows, columns] = scale a [rows, inner] b [inner, columns]
template <class Number>
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale, Matrix<const Number> a,
              Matrix<const Number> b, Matrix<Number> c) {
  gemm<Number>('N', 'N', columns, rows, inner, scale, b, a, 0, c);
}
/// c [rows, columns] += scale a^T b, a [inner, rows], b [inner, columns]
template <class Number>
void add_transposed_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
                            Matrix<const Number> a, Matrix<const Number> b, Matrix<Number> c) {
  gemm<Number>('N', 'T', columns, rows, inner, scale, b, a, 1, c);
}

/// What both ways go through: blocks of queries of one head of one sequence.
class Attention {
 public:
  Attention(const at::Tensor& query, std::shared_ptr<const RowSpans> spans, std::int64_t heads, double rate,
            const DropoutKey& key)
      : spans_(std::move(spans)),
        heads_(heads),
        columns_(query.size(1) / heads),
        rate_(key.active ? rate : 0),
        key_(key) {}

  /// Outputs [query rows, d] and logarithms of the sums of exponentials [query rows, heads].
  template <class Number>
  void forward(const at::Tensor& query, const at::Tensor& keys_values, const at::Tensor& output,
               const at::Tensor& log_sum) const {
    for_each_head<Number>(1, [&](std::size_t sequence, std::int64_t head, Number* scratch) {
      const dist::Span keys = spans_->keys[sequence];
      const auto k = columns_of<Number>(keys_values, head * columns_).from(keys.begin);
      const auto v = columns_of<Number>(keys_values, (heads_ + head) * columns_).from(keys.begin);
      const auto q = columns_of<Number>(query, head * columns_);
      const auto out = columns_to_fill<Number>(output, head * columns_);
      const auto sums = columns_to_fill<Number>(log_sum, head);
      for_each_block(sequence, [&](std::int64_t first, std::int64_t count, std::int64_t seen) {
        const Matrix<Number> weights{scratch, seen};
        multiply_by_transposed<Number>(count, seen, columns_, scale<Number>(), q.from(first), k, weights);
        for (std::int64_t row = 0; row < count; ++row) {
          const std::int64_t visible = visible_keys(sequence, first + row);
          *sums.row(first + row) = softmax(weights.row(row), static_cast<std::size_t>(visible));
          std::fill(weights.row(row) + visible, weights.row(row) + seen, Number{0});
          keep(sequence, first + row, head, weights.row(row), visible);
        }
        multiply<Number>(count, columns_, seen, 1, {weights.data, seen}, v, out.from(first));
      });
    });
  }

  /// Gradients of queries and of keys and values (zeros at first), from that of the output.
  template <class Number>
  void backward(const at::Tensor& query, const at::Tensor& keys_values, const at::Tensor& output,
                const at::Tensor& log_sum, const at::Tensor& gradient, const at::Tensor& query_gradient,
                const at::Tensor& key_value_gradient) const {
    for_each_head<Number>(2, [&](std::size_t sequence, std::int64_t head, Number* scratch) {
      const dist::Span keys = spans_->keys[sequence];
      const auto k = columns_of<Number>(keys_values, head * columns_).from(keys.begin);
      const auto v = columns_of<Number>(keys_values, (heads_ + head) * columns_).from(keys.begin);
      const auto q = columns_of<Number>(query, head * columns_);
      const auto out = columns_of<Number>(output, head * columns_);
      const auto given = columns_of<Number>(gradient, head * columns_);
      const auto sums = columns_of<Number>(log_sum, head);
      const auto to_q = columns_to_fill<Number>(query_gradient, head * columns_);
      const auto to_k = columns_to_fill<Number>(key_value_gradient, head * columns_).from(keys.begin);
      const auto to_v = columns_to_fill<Number>(key_value_gradient, (heads_ + head) * columns_).from(keys.begin);
      for_each_block(sequence, [&](std::int64_t first, std::int64_t count, std::int64_t seen) {
        const Matrix<Number> weights{scratch, seen};
        const Matrix<Number> dropped{scratch + count * seen, seen};  // then their gradients
        multiply_by_transposed<Number>(count, seen, columns_, scale<Number>(), q.from(first), k, weights);
        for (std::int64_t row = 0; row < count; ++row) {
          const std::int64_t visible = visible_keys(sequence, first + row);
          exponentials(weights.row(row), static_cast<std::size_t>(visible), *sums.row(first + row));
          std::fill(weights.row(row) + visible, weights.row(row) + seen, Number{0});
          std::copy_n(weights.row(row), seen, dropped.row(row));
          keep(sequence, first + row, head, dropped.row(row), visible);
        }
        add_transposed_product<Number>(seen, columns_, count, 1, {dropped.data, seen}, given.from(first), to_v);
        multiply_by_transposed<Number>(count, seen, columns_, 1, given.from(first), v, dropped);
        for (std::int64_t row = 0; row < count; ++row) {
          const std::int64_t visible = visible_keys(sequence, first + row);
          keep(sequence, first + row, head, dropped.row(row), visible);
          const Number mean = dot(given.row(first + row), out.row(first + row), static_cast<std::size_t>(columns_));
          multiply_differences(weights.row(row), mean, dropped.row(row), static_cast<std::size_t>(seen));
        }
        multiply<Number>(count, columns_, seen, scale<Number>(), {dropped.data, seen}, k, to_q.from(first));
        add_transposed_product<Number>(seen, columns_, count, scale<Number>(), {dropped.data, seen}, q.from(first),
                                       to_k);
      });
    });
  }

 private:
  template <class Number>
  Number scale() const {
    return static_cast<Number>(1 / std::sqrt(static_cast<double>(columns_)));
  }

  /// visit(sequence, head, room for `buffers` blocks of weights), each pair once, on any thread.
  template <class Number, class Visit>
  void for_each_head(std::int64_t buffers, const Visit& visit) const {
    std::int64_t longest = 0;
    for (const dist::Span& keys : spans_->keys) longest = std::max(longest, keys.end - keys.begin);
    const auto pairs = static_cast<std::int64_t>(spans_->keys.size()) * heads_;
    at::parallel_for(0, pairs, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<Number> scratch(static_cast<std::size_t>(buffers * block * longest));
      for (std::int64_t pair = begin; pair < end; ++pair)
        visit(static_cast<std::size_t>(pair / heads_), pair % heads_, scratch.data());
    });
  }

  /// visit(first query row, how many, keys that one of them sees)
  template <class Visit>
  void for_each_block(std::size_t sequence, const Visit& visit) const {
    const dist::Span queries = spans_->queries[sequence];
    for (std::int64_t first = queries.begin; first < queries.end; first += block) {
      const std::int64_t count = std::min(block, queries.end - first);
      const std::int64_t seen = visible_keys(sequence, first + count - 1);  // positions ascend
      if (seen > 0) visit(first, count, seen);
    }
  }

  std::int64_t visible_keys(std::size_t sequence, std::int64_t row) const {
    const dist::Span& keys = spans_->keys[sequence];
    const std::int64_t all = keys.end - keys.begin;
    if (!spans_->causal) return all;
    const std::int64_t behind = spans_->position[static_cast<std::size_t>(row)] - spans_->first_key[sequence] + 1;
    return std::clamp<std::int64_t>(behind, 0, all);
  }

  template <class Number>
  void keep(std::size_t sequence, std::int64_t row, std::int64_t head, Number* weights, std::int64_t count) const {
    if (rate_ == 0) return;
    const auto number = static_cast<std::size_t>(row);
    keep_columns(row_draw(key_, rate_, spans_->sequence[number], spans_->position[number],
                          static_cast<std::uint32_t>(key_.first_head + head)),
                 static_cast<std::size_t>(spans_->first_key[sequence]),
                 std::span<const Number>(weights, static_cast<std::size_t>(count)),
                 static_cast<Number>(1 / (1 - rate_)), weights);
  }

  std::shared_ptr<const RowSpans> spans_;
  std::int64_t heads_;
  std::int64_t columns_;  // of a head
  double rate_;
  DropoutKey key_;
};

/// The same rows, whose columns are one after the other.
at::Tensor rows_in_order(const at::Tensor& rows) { return rows.stride(1) == 1 ? rows : rows.contiguous(); }

}  // namespace

bool can_attend_rows(const at::Tensor& query, const at::Tensor& keys_values) {
  const bool is_real = query.scalar_type() == at::kFloat || query.scalar_type() == at::kDouble;
  return query.is_cpu() && keys_values.is_cpu() && is_real;
}

at::Tensor row_attention(const at::Tensor& query, const at::Tensor& keys_values,
                         const std::shared_ptr<const RowSpans>& spans, std::int64_t heads, double dropout_rate,
                         const DropoutKey& dropout) {
  const at::Tensor q = rows_in_order(query.detach());
  const at::Tensor kv = rows_in_order(keys_values.detach());
  const Attention attention(q, spans, heads, dropout_rate, dropout);
  at::Tensor output = at::zeros(q.sizes(), q.options());
  const at::Tensor log_sum = at::zeros({q.size(0), heads}, q.options());
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "row_attention",
                             [&] { attention.forward<scalar_t>(q, kv, output, log_sum); });
  return dist::with_backward(output, {query, keys_values}, [=, made = output.detach()](const at::Tensor& gradient) {
    std::vector<at::Tensor> result{at::zeros(q.sizes(), q.options()), at::zeros(kv.sizes(), kv.options())};
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "row_attention_backward", [&] {
      attention.backward<scalar_t>(q, kv, made, log_sum, gradient.contiguous(), result[0], result[1]);
    });
    return result;
  });
}

}  // namespace ut::core
