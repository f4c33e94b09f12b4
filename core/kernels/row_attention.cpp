#include "core/kernels/row_attention.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <utility>

#include "core/kernels/gpu_attention.h"
#include "core/kernels/gradient_of_rows.h"
#include "core/kernels/host_attention.h"
#include "dist/accumulation_type.h"

namespace ut::core {
namespace {

/// The caller's gradient `rows`, which is created if it is undefined.
GradientOfRows gradient_in(at::Tensor& rows, const at::Tensor& like, bool fully_written) {
  if (rows.defined()) return {rows, true};
  const GradientOfRows made = new_gradient(like, fully_written);
  rows = made.rows;
  return made;
}

/// The same rows in this type, with contiguous columns.
at::Tensor rows_in_order(const at::Tensor& rows, at::ScalarType type) {
  const at::Tensor typed = rows.detach().to(type);
  return typed.stride(1) == 1 ? typed : typed.contiguous();
}

/// The type in which kernels read an input: on the host the type of the computation; on devices the input's own, which
/// kernels convert number by number.
at::ScalarType type_read(const at::Tensor& given) {
  return given.is_cpu() ? dist::accumulation_type(given.scalar_type()) : given.scalar_type();
}

}  // namespace

bool has_row_attention(at::Device device, at::ScalarType type, std::int64_t columns_of_head) {
  return device.is_cpu() || has_gpu_attention(device, dist::accumulation_type(type), columns_of_head);
}

RowAttention::RowAttention(const at::Tensor& query, const AttentionSite& site)
    : type_(query.scalar_type()),
      site_(site),
      query_(rows_in_order(query, type_read(query))),
      output_(at::empty(query_.sizes(), query_.options().dtype(dist::accumulation_type(type_)))),
      log_sum_(at::empty({query_.size(0), site.heads}, output_.options())) {}

void RowAttention::attend_to(const at::Tensor& keys_values, const RowSpans& spans) {
  if (query_.size(0) == 0 || keys_values.size(0) == 0) return;
  RECORD_USER_SCOPE("attention");
  const at::Tensor seen = rows_in_order(keys_values, query_.scalar_type());
  const bool has_earlier_keys = std::exchange(has_keys_, true);
  if (spans.tiled) return gpu_attend(query_, seen, *spans.tiled, site_, has_earlier_keys, output_, log_sum_);
  host_attend(query_, seen, spans, site_, has_earlier_keys, output_, log_sum_);
}

at::Tensor RowAttention::output() const { return has_keys_ ? output_.to(type_) : at::zeros_like(output_, type_); }

void RowAttention::backward(const at::Tensor& gradient, const at::Tensor& keys_values, const RowSpans& spans,
                            at::Tensor& query_gradient, at::Tensor& keys_values_gradient) const {
  const at::Tensor seen = rows_in_order(keys_values, query_.scalar_type());
  const bool attends = query_.size(0) > 0 && seen.size(0) > 0;
  const bool attends_to_all = attends && spans.key_count() == seen.size(0);
  const GradientOfRows of_query = gradient_in(query_gradient, query_, attends);
  const GradientOfRows of_keys_values = gradient_in(keys_values_gradient, seen, attends_to_all);
  if (!attends) return;
  RECORD_USER_SCOPE("attention, backward");
  const at::Tensor given = rows_in_order(gradient, query_.scalar_type());
  if (spans.tiled)
    return gpu_attend_backward(query_, seen, *spans.tiled, site_, output_, log_sum_, given, of_query, of_keys_values);
  host_attend_backward(query_, seen, spans, site_, output_, log_sum_, given, of_query, of_keys_values);
}

}  // namespace ut::core
