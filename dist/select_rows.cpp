#include "dist/select_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstring>

#include "dist/differentiable.h"

namespace ut::dist {
namespace {

/// to[to_row[i]] = from[from_row[i]] for i in 0..count - 1; without a table, i itself. ATen's own go through an
/// iterator for each row, which takes longer than to copy a head's few hundred bytes.
void copy_rows(char* to, const std::int64_t* to_row, const char* from, const std::int64_t* from_row, std::int64_t count,
               std::int64_t row_bytes) {
  const std::int64_t grain = 1 + 65536 / std::max<std::int64_t>(1, row_bytes);
  at::parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(to + (to_row == nullptr ? i : to_row[i]) * row_bytes,
                  from + (from_row == nullptr ? i : from_row[i]) * row_bytes, static_cast<std::size_t>(row_bytes));
  });
}

const std::int64_t* table_of(const at::Tensor& index) {
  return index.defined() ? index.const_data_ptr<std::int64_t>() : nullptr;
}

/// [rows of `from_row`, c], of from's rows; or, where there is `to_row`, [rows, c] with zeros elsewhere.
at::Tensor copied(const at::Tensor& from, const at::Tensor& from_row, const at::Tensor& to_row, std::int64_t rows) {
  const at::Tensor source = from.contiguous();
  auto sizes = source.sizes().vec();
  sizes.at(0) = rows;
  at::Tensor result = to_row.defined() ? at::zeros(sizes, source.options()) : at::empty(sizes, source.options());
  const std::int64_t count = to_row.defined() ? to_row.numel() : rows;
  if (count == 0) return result;
  const auto row_bytes = static_cast<std::int64_t>(result.nbytes()) / std::max<std::int64_t>(1, rows);
  copy_rows(static_cast<char*>(result.data_ptr()), table_of(to_row), static_cast<const char*>(source.const_data_ptr()),
            table_of(from_row), count, row_bytes);
  return result;
}

}  // namespace

at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index) { return select_rows(rows, index, {}, index); }

at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index, const at::Tensor& read, const at::Tensor& row) {
  return differentiable(
      rows, [&](const at::Tensor& all) { return copied(all, index, {}, index.numel()); },
      [read, row, count = rows.size(0)](const at::Tensor& gradient) { return copied(gradient, read, row, count); });
}

}  // namespace ut::dist
