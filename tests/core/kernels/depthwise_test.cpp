// A depthwise convolution against the library's operations on windows that are written out, and its device code, run on
// the host one thread after the other, against the host's code.

#include "core/kernels/depthwise.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <gtest/gtest.h>

#include <ostream>

#include "core/kernels/depthwise_threads.h"
#include "core/kernels/normalised_sum.h"
#include "tests/core/random_batch.h"
#include "tests/core/threads.h"

namespace ut::core {
namespace {

struct DepthwiseSetting {
  at::ScalarType type;
  std::int64_t rows;
  std::int64_t width;
  std::int64_t columns;
};

std::ostream& operator<<(std::ostream& stream, const DepthwiseSetting& setting) {
  return stream << toString(setting.type) << "_rows" << setting.rows << "_width" << setting.width << "_columns"
                << setting.columns;
}

/// Of 2 * rows + 1 known rows, each of `rows` rows sees a window around every second one. Some known rows are missing.
class Depthwise : public testing::TestWithParam<DepthwiseSetting> {
 protected:
  at::Tensor tensor(const std::vector<std::int64_t>& sizes, std::uint64_t seed) const {
    return random_tensor(sizes, seed).to(GetParam().type);
  }

  at::Tensor table() const {
    const at::Tensor first = 2 * at::arange(GetParam().rows).unsqueeze(1) - GetParam().width / 2;
    const at::Tensor seen = first + at::arange(GetParam().width);
    return at::where((seen >= known_rows_).logical_or(seen.remainder(7) == 0), -1, seen.clamp_min(-1)).contiguous();
  }

  /// [rows, width, columns]
  at::Tensor windows() const {
    const at::Tensor seen = known_.index_select(0, table_.clamp_min(0).flatten());
    return seen.view({GetParam().rows, GetParam().width, GetParam().columns}) * table_.ge(0).unsqueeze(2);
  }

  void expect_same(const at::Tensor& one, const at::Tensor& other) const {
    const double tolerance = GetParam().type == at::kFloat ? 2e-5 : 1e-13;
    ASSERT_EQ(one.sizes(), other.sizes());
    EXPECT_TRUE(one.allclose(other, tolerance, tolerance)) << (one - other).abs().max();
  }

  Threads threads_{4};
  std::int64_t known_rows_ = 2 * GetParam().rows + 1;
  at::Tensor known_ = tensor({known_rows_, GetParam().columns}, 1).requires_grad_();
  at::Tensor kernel_ = tensor({GetParam().width, GetParam().columns}, 2).requires_grad_();
  at::Tensor table_ = table();
};

TEST_P(Depthwise, IsTheWeightedSumOfWhatEachRowSees) {
  const at::Tensor expected = (windows() * kernel_).sum(1);
  const at::Tensor gradient = tensor({GetParam().rows, GetParam().columns}, 3);
  (expected * gradient).sum().backward();
  const at::Tensor of_known = known_.grad().clone();
  const at::Tensor of_kernel = kernel_.grad().clone();
  const std::int64_t own = GetParam().rows;  // the other known rows count as received
  for (const dist::Neighbours& seen :
       {dist::Neighbours{known_, {}, table_},
        dist::Neighbours{known_.narrow(0, 0, own), known_.narrow(0, own, known_rows_ - own), table_}}) {
    known_.mutable_grad().zero_();
    kernel_.mutable_grad().zero_();
    const at::Tensor made = depthwise(seen, kernel_);
    expect_same(made, expected);
    made.backward(gradient);
    expect_same(known_.grad(), of_known);
    expect_same(kernel_.grad(), of_kernel);
  }
}

TEST_P(Depthwise, IsTheSameByThreadsAsOnTheHost) {
  const DepthwiseSetting& setting = GetParam();
  const at::Tensor gradient = tensor({setting.rows, setting.columns}, 3);
  const at::Tensor made = depthwise({known_, {}, table_}, kernel_);
  made.backward(gradient);
  const at::Tensor result = at::full_like(gradient, NAN);
  const std::int64_t chunks = (setting.rows + rows_summed_at_once - 1) / rows_summed_at_once;
  const at::Tensor partial = at::full({chunks, setting.width, setting.columns}, NAN, gradient.options());
  const auto go_through = [](const auto& threads) {
    for (std::int64_t thread = 0; thread < threads.threads(); ++thread) threads.run(thread);
  };
  AT_DISPATCH_FLOATING_TYPES(setting.type, "", [&] {
    const auto* known = known_.const_data_ptr<scalar_t>();
    const auto* table = table_.const_data_ptr<std::int64_t>();
    go_through(DepthwiseThreads<scalar_t>{known, table, kernel_.const_data_ptr<scalar_t>(), result.data_ptr<scalar_t>(),
                                          setting.rows, setting.width, setting.columns});
    go_through(DepthwiseKernelThreads<scalar_t>{known, table, gradient.const_data_ptr<scalar_t>(),
                                                partial.data_ptr<scalar_t>(), setting.rows, setting.width,
                                                setting.columns, rows_summed_at_once});
  });
  expect_same(result, made.detach());
  expect_same(partial.sum(0), kernel_.grad());
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Depthwise,
    testing::Values(DepthwiseSetting{at::kDouble, 150, 5, 20}, DepthwiseSetting{at::kFloat, 300, 3, 128},
                    DepthwiseSetting{at::kFloat, 1, 5, 3}, DepthwiseSetting{at::kDouble, 64, 1, 17},
                    DepthwiseSetting{at::kFloat, 20, 7, 33}, DepthwiseSetting{at::kDouble, 0, 3, 8}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
