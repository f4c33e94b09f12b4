#include "dist/select_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstring>

#include "dist/differentiable.h"

namespace ut::dist {
namespace {

/// The same as copy_rows(), done by ATen.
void copy_rows_of_device(const at::Tensor& to, const at::Tensor& to_row, const at::Tensor& from,
                         const at::Tensor& from_row, std::int64_t count) {
  const at::Tensor rows = from.view({from.size(0), from.numel() / from.size(0)});
  const at::Tensor target = to.view({-1, rows.size(1)});
  if (to_row.defined())
    target.index_copy_(0, to_row, from_row.defined() ? rows.index_select(0, from_row) : rows);
  else if (at::Tensor part = target.narrow(0, 0, count); from_row.defined())
    at::index_select_out(part, rows, 0, from_row);
  else
    part.copy_(rows);
}

const std::int64_t* table_of(const at::Tensor& index) {
  return index.defined() ? index.const_data_ptr<std::int64_t>() : nullptr;
}

/// Rows of `from` copied by copy_rows() to a new tensor [rows, ...]; rows that `to_row` does not name are zero.
at::Tensor copied(const at::Tensor& from, const at::Tensor& from_row, const at::Tensor& to_row, std::int64_t rows) {
  auto sizes = from.sizes().vec();
  sizes.at(0) = rows;
  const bool has_gaps = to_row.defined() && to_row.numel() < rows;
  at::Tensor result = has_gaps ? at::zeros(sizes, from.options()) : at::empty(sizes, from.options());
  copy_rows(result, to_row, from, from_row);
  return result;
}

}  // namespace

// ATen's own functions go through an iterator for each row, which takes longer than copying a head's few hundred bytes.
void copy_rows(const at::Tensor& to, const at::Tensor& to_row, const at::Tensor& from, const at::Tensor& from_row) {
  const at::Tensor source = from.contiguous();
  const std::int64_t count = to_row.defined() ? to_row.numel() : from_row.defined() ? from_row.numel() : from.size(0);
  if (count == 0) return;
  if (!source.is_cpu()) return copy_rows_of_device(to, to_row, source, from_row, count);
  const auto row_bytes = static_cast<std::int64_t>(source.nbytes()) / source.size(0);
  const std::int64_t* to_table = table_of(to_row);
  const std::int64_t* from_table = table_of(from_row);
  auto* target = static_cast<char*>(to.data_ptr());
  const auto* values = static_cast<const char*>(source.const_data_ptr());
  at::parallel_for(0, count, 1 + 65536 / std::max<std::int64_t>(1, row_bytes),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i)
                       std::memcpy(target + (to_table == nullptr ? i : to_table[i]) * row_bytes,
                                   values + (from_table == nullptr ? i : from_table[i]) * row_bytes,
                                   static_cast<std::size_t>(row_bytes));
                   });
}

at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index) { return select_rows(rows, index, {}, index); }

at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index, const at::Tensor& gradient_place,
                       const at::Tensor& gradient_row) {
  return differentiable(
      rows, [&](const at::Tensor& all) { return copied(all, index, {}, index.numel()); },
      [gradient_place, gradient_row, count = rows.size(0)](const at::Tensor& gradient) {
        return copied(gradient, gradient_place, gradient_row, count);
      });
}

void add_rows(const at::Tensor& to, const at::Tensor& index, const at::Tensor& rows,
              std::span<const std::int64_t> parts) {
  std::int64_t begin = 0;
  for (const std::int64_t count : parts) {
    if (count > 0) to.index_add_(0, index.narrow(0, begin, count), rows.narrow(0, begin, count));
    begin += count;
  }
}

at::Tensor inverse_permutation(const at::Tensor& order) {
  return at::empty_like(order).index_copy_(0, order, at::arange(order.size(0), order.options()));
}

}  // namespace ut::dist
