#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace ut::core {

/// Some columns of rows in the host's memory; a row's columns are contiguous.
template <class Number>
struct MatrixRows {
  Number* data;
  std::int64_t stride;  // from row to row

  Number* row(std::int64_t number) const { return data + number * stride; }
  MatrixRows from(std::int64_t number) const { return {row(number), stride}; }
};

/// A factor of a product: these rows or, if transposed, the matrix whose columns they are.
template <class Number>
struct Factor {
  MatrixRows<const Number> rows;
  bool transposed;
};

template <class Number>
Factor<std::remove_const_t<Number>> as_stored(const MatrixRows<Number>& rows) {
  return {{rows.data, rows.stride}, false};
}
template <class Number>
Factor<std::remove_const_t<Number>> transposed(const MatrixRows<Number>& rows) {
  return {{rows.data, rows.stride}, true};
}

/// c [rows, columns] = scale * a b + kept * c, with a [rows, inner] and b [inner, columns], without the overhead of a
/// tensor operation. If `kept` is 0, c need not be initialised.
void gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
          const Factor<float>& b, float kept, MatrixRows<float> c);
void gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, double scale, const Factor<double>& a,
          const Factor<double>& b, double kept, MatrixRows<double> c);

/// The float32 gemm() by the library that is fastest on this kind of processor; each call has some overhead. Throws
/// std::runtime_error if it fails. No signal may be handled meanwhile on the thread's own stack: oneDNN 2.6 uses the
/// stack pointer for other memory.
void library_gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
                  const Factor<float>& b, float kept, const MatrixRows<float>& c);

/// The name of that library, and oneDNN's version.
std::string gemm_library();

}  // namespace ut::core
