#pragma once

#include <cstdint>

namespace ut::core {

/// Some columns of rows in the host's memory, a row's one after the other.
template <class Number>
struct MatrixRows {
  Number* data;
  std::int64_t stride;  // from row to row

  Number* row(std::int64_t number) const { return data + number * stride; }
  MatrixRows from(std::int64_t number) const { return {row(number), stride}; }
};

// Products by LibTorch's BLAS, without what a tensor operation takes for itself. Number: float or double.

/// c [rows, columns] = scale * a b^T, of a [rows, inner] and b [columns, inner].
template <class Number>
void multiply_by_transposed(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
                            MatrixRows<const Number> a, MatrixRows<const Number> b, MatrixRows<Number> c);

/// c [rows, columns] = scale * a b + kept * c, of a [rows, inner] and b [inner, columns].
template <class Number>
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale, MatrixRows<const Number> a,
              MatrixRows<const Number> b, Number kept, MatrixRows<Number> c);

/// c [rows, columns] += scale * a^T b, of a [inner, rows] and b [inner, columns].
template <class Number>
void add_transposed_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
                            MatrixRows<const Number> a, MatrixRows<const Number> b, MatrixRows<Number> c);

}  // namespace ut::core
