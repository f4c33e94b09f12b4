#include "dist/select_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace ut::dist {
namespace {

/// More rows than one thread copies alone.
TEST(CopyRows, PutsThemWhereTheyBelongWithAnyNumberOfThreads) {
  const at::Tensor from = at::arange(64'000, at::kDouble).view({1000, 64});
  const at::Tensor order = (at::arange(1000) * 7).remainder(1000);
  const int before = at::get_num_threads();
  for (const int threads : {1, 4}) {
    at::set_num_threads(threads);
    const at::Tensor put = at::zeros_like(from);
    copy_rows(put, order, from, {});
    EXPECT_TRUE(put.equal(at::zeros_like(from).index_copy(0, order, from))) << threads;
    const at::Tensor taken = at::zeros_like(from);
    copy_rows(taken, {}, from, order);
    EXPECT_TRUE(taken.equal(from.index_select(0, order))) << threads;
  }
  at::set_num_threads(before);
}

}  // namespace
}  // namespace ut::dist
