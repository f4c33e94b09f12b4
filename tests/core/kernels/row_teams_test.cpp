// The device code of teams of threads, run on the host one stage and one thread after the other. It must give what the
// host's code gives, except for the order of sums.

#include "core/kernels/row_teams.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <gtest/gtest.h>

#include "core/kernels/dropout.h"
#include "core/kernels/normalised_sum.h"
#include "tests/core/kernels/row_setting.h"
#include "tests/core/random_batch.h"
#include "tests/core/threads.h"

namespace ut::core {
namespace {

constexpr double epsilon = 1e-6;

/// Runs a stage's threads forwards or backwards: within a stage none may depend on another.
template <class Teams>
void go_through(const Teams& teams, bool backwards) {
  for (std::int64_t row = 0; row < teams.rows; ++row) {
    typename Teams::Sums sums;
    for (int stage = 0; stage < Teams::stages; ++stage)
      for (std::int64_t thread = 0; thread < threads_of_team; ++thread)
        teams.run(stage, row, backwards ? threads_of_team - 1 - thread : thread, sums);
  }
}

class RowTeams : public testing::TestWithParam<RowSetting> {
 protected:
  at::Tensor tensor(const std::vector<std::int64_t>& sizes, std::uint64_t seed) const {
    return random_tensor(sizes, seed).to(GetParam().type);
  }
  at::Tensor matrix(std::uint64_t seed) const { return tensor({rows_.count(), GetParam().columns}, seed); }
  at::Tensor unwritten_like(const at::Tensor& like) const { return at::full_like(like, unwritten); }

  NormalisedSum on_host() const {
    return normalised_sum(x_, y_, scale_, bias_, epsilon, GetParam().rate, draw_, identities_of(rows_, at::kCPU));
  }

  NormalisedSum by_teams(bool backwards) const {
    NormalisedSum made{unwritten_like(x_), unwritten_like(x_), unwritten_like(x_.select(1, 0))};
    AT_DISPATCH_FLOATING_TYPES(GetParam().type, "", [&] {
      auto* normalised = made.normalised.data_ptr<scalar_t>();
      const AddKept<scalar_t> add{x_.const_data_ptr<scalar_t>(), y_.const_data_ptr<scalar_t>(),
                                  static_cast<scalar_t>(1 / (1 - GetParam().rate)), normalised};
      go_through(NormalisedSumTeams<scalar_t>{{draw_, identities_of(rows_, at::kCPU), add, x_.size(0), x_.size(1)},
                                              scale_.const_data_ptr<scalar_t>(),
                                              bias_.const_data_ptr<scalar_t>(),
                                              static_cast<scalar_t>(epsilon),
                                              made.output.data_ptr<scalar_t>(),
                                              normalised,
                                              made.factor.data_ptr<scalar_t>(),
                                              x_.size(0),
                                              x_.size(1)},
                 backwards);
    });
    return made;
  }

  NormalisedSumGradients backward_by_teams(const NormalisedSum& made, const at::Tensor& gradient,
                                           bool backwards) const {
    const std::int64_t chunks = (x_.size(0) + rows_summed_at_once - 1) / rows_summed_at_once;
    const at::Tensor of_sum = unwritten_like(x_);
    const at::Tensor partial = at::full({chunks, 2, x_.size(1)}, unwritten, x_.options());
    AT_DISPATCH_FLOATING_TYPES(GetParam().type, "", [&] {
      const auto* normalised = made.normalised.const_data_ptr<scalar_t>();
      const auto* given = gradient.const_data_ptr<scalar_t>();
      go_through(NormalisedSumBackwardTeams<scalar_t>{normalised, made.factor.const_data_ptr<scalar_t>(),
                                                      scale_.const_data_ptr<scalar_t>(), given,
                                                      of_sum.data_ptr<scalar_t>(), x_.size(0), x_.size(1)},
                 backwards);
      const ScaleAndBiasThreads<scalar_t> threads{normalised, given,      partial.data_ptr<scalar_t>(),
                                                  x_.size(0), x_.size(1), rows_summed_at_once};
      for (std::int64_t thread = 0; thread < threads.threads(); ++thread) threads.run(thread);
    });
    return {of_sum, partial.sum(0)};
  }

  void expect_same(const at::Tensor& one, const at::Tensor& other) const {
    const double tolerance = GetParam().type == at::kFloat ? 2e-5 : 1e-13;
    EXPECT_TRUE(one.allclose(other, tolerance, tolerance)) << (one - other).abs().max();
  }

  Threads threads_{4};  // of the host
  dist::Rows rows_ = dist::rows_of({{4, 9}, {270, 7}}, 0, 1);
  DropoutDraw draw_ = dropout_draw(DropoutKey::for_update(3, 5).with_step(2), GetParam().rate);
  at::Tensor x_ = matrix(1);
  at::Tensor y_ = matrix(2);
  at::Tensor scale_ = tensor({GetParam().columns}, 3);
  at::Tensor bias_ = tensor({GetParam().columns}, 4);
};

TEST_P(RowTeams, NormaliseASumWithDropout) {
  const NormalisedSum expected = on_host();
  for (const bool backwards : {false, true}) {
    const NormalisedSum made = by_teams(backwards);
    expect_same(made.output, expected.output);
    expect_same(made.normalised, expected.normalised);
    expect_same(made.factor, expected.factor);
  }
}

TEST_P(RowTeams, GoBackFromANormalisedSum) {
  const NormalisedSum made = on_host();
  const at::Tensor gradient = matrix(5);
  const auto [of_sum, of_parameters] = normalised_sum_backward(made, scale_, gradient);
  for (const bool backwards : {false, true}) {
    const auto [by_teams, of_parameters_by_teams] = backward_by_teams(made, gradient, backwards);
    expect_same(by_teams, of_sum);
    expect_same(of_parameters_by_teams, of_parameters);
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, RowTeams,
                         testing::Values(RowSetting{at::kFloat, 0.3, 200}, RowSetting{at::kDouble, 0.3, 200},
                                         RowSetting{at::kFloat, 0.1, 256}, RowSetting{at::kDouble, 0.9, 3},
                                         RowSetting{at::kDouble, 0.5, 65}, RowSetting{at::kFloat, 0, 64}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
