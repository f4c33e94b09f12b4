// The device code of grids of threads, run on the host one thread after the other. It must give exactly the bits that
// the host's code gives.

#include "core/kernels/row_threads.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <gtest/gtest.h>

#include "core/kernels/add_dropped.h"
#include "core/kernels/relu_dropout.h"
#include "tests/core/kernels/row_setting.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

template <class Threads>
void go_through(const Threads& threads) {
  for (std::int64_t thread = 0; thread < threads.threads(); ++thread) threads.run(thread);
}

class RowThreads : public testing::TestWithParam<RowSetting> {
 protected:
  at::Tensor tensor(const std::vector<std::int64_t>& sizes, std::uint64_t seed) const {
    return random_tensor(sizes, seed).to(GetParam().type);
  }
  at::Tensor matrix(std::uint64_t seed) const { return tensor({rows_.count(), GetParam().columns}, seed); }

  /// Runs `element` for all elements of `like`.
  template <class Identities, class Element>
  void run(const at::Tensor& like, const Identities& identities, const Element& element) const {
    go_through(DropoutThreads<Identities, Element>{dropout_draw(key_, GetParam().rate), identities, element,
                                                   like.numel() / like.size(-1), like.size(-1)});
  }
  /// The same for rows_.
  template <class Element>
  void run(const Element& element) const {
    run(matrix(0), identities_of(rows_, at::kCPU), element);
  }

  template <class Number>
  Number scale() const {
    return static_cast<Number>(1 / (1 - GetParam().rate));
  }

  dist::Rows rows_ = dist::rows_of({{4, 9}, {30, 7}}, 0, 1);
  DropoutKey key_ = DropoutKey::for_update(3, 5).with_step(2).with_site(Site::transition_hidden);
};

TEST_P(RowThreads, DropOut) {
  const at::Tensor x = matrix(1);
  const at::Tensor result = at::full_like(x, NAN);
  AT_DISPATCH_FLOATING_TYPES(GetParam().type, "", [&] {
    run(Keep<scalar_t>{x.const_data_ptr<scalar_t>(), scale<scalar_t>(), result.mutable_data_ptr<scalar_t>()});
  });
  EXPECT_TRUE(result.equal(dropout(x, GetParam().rate, key_, rows_)));
}

TEST_P(RowThreads, DropOutOfAttentionWeights) {
  const auto queries = std::make_shared<const QueryIdentities>(
      QueryIdentities{{4, 4, 4, 9, 9, 9, 11, 11, 11}, {0, 1, 2, 6, 7, 8, 60, 61, 62}, {0, 5, 63}});
  const DropoutKey key = key_.with_first_head(3);
  const at::Tensor weights = tensor({3, 2, 3, GetParam().columns}, 1);
  const at::Tensor result = at::full_like(weights, NAN);
  const WeightIdentities identities{
      queries->sequence.data(), queries->position.data(), queries->first_key.data(), 2, 3, key.first_head};
  AT_DISPATCH_FLOATING_TYPES(GetParam().type, "", [&] {
    run(weights, identities,
        Keep<scalar_t>{weights.const_data_ptr<scalar_t>(), scale<scalar_t>(), result.mutable_data_ptr<scalar_t>()});
  });
  EXPECT_TRUE(result.equal(dropout_attention(weights, GetParam().rate, key, queries)));
}

TEST_P(RowThreads, AddDropped) {
  const at::Tensor x = matrix(1);
  const at::Tensor y = matrix(2);
  const at::Tensor result = at::full_like(x, NAN);
  AT_DISPATCH_FLOATING_TYPES(GetParam().type, "", [&] {
    run(AddKept<scalar_t>{x.const_data_ptr<scalar_t>(), y.const_data_ptr<scalar_t>(), scale<scalar_t>(),
                          result.mutable_data_ptr<scalar_t>()});
  });
  EXPECT_TRUE(result.equal(add_dropped(x, y, GetParam().rate, key_, rows_)));
}

TEST_P(RowThreads, ReluAndDropOutOfASumForwardAndBackward) {
  at::Tensor x = matrix(1);
  x[0][0] = NAN;
  const at::Tensor bias = tensor({GetParam().columns}, 2);
  const at::Tensor gradient = matrix(3);
  const at::Tensor leaf = x.clone().requires_grad_();
  const at::Tensor expected = relu_dropout(leaf * 1, bias, GetParam().rate, key_, rows_);
  expected.backward(gradient);
  const at::Tensor of_x = at::full_like(x, INFINITY);
  AT_DISPATCH_FLOATING_TYPES(GetParam().type, "", [&] {
    run(ReluKeep<scalar_t>{x.mutable_data_ptr<scalar_t>(), bias.const_data_ptr<scalar_t>(), scale<scalar_t>()});
    go_through(ScaleWherePositiveThreads<scalar_t>{x.const_data_ptr<scalar_t>(), gradient.const_data_ptr<scalar_t>(),
                                                   scale<scalar_t>(), of_x.mutable_data_ptr<scalar_t>(), x.numel()});
  });
  const auto same = [](const at::Tensor& one, const at::Tensor& other) {  // NaN counts as equal to NaN
    return one.eq(other).logical_or(one.isnan().logical_and(other.isnan())).all().item<bool>();
  };
  EXPECT_TRUE(same(x, expected));
  EXPECT_TRUE(same(of_x, leaf.grad()));
}

INSTANTIATE_TEST_SUITE_P(Settings, RowThreads,
                         testing::Values(RowSetting{at::kFloat, 0.3, 200}, RowSetting{at::kDouble, 0.3, 200},
                                         RowSetting{at::kFloat, 0.1, 256}, RowSetting{at::kFloat, 0.9, 3},
                                         RowSetting{at::kDouble, 0.5, 65}, RowSetting{at::kFloat, 0, 64}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
