#include "launcher/ranks/non_finite_updates.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "core/make_model.h"
#include "dist/communicator.h"
#include "launcher/ranks/agree.h"

namespace ut::launcher {
namespace {

std::unique_ptr<core::Model> small_model() {
  core::ModelOptions shape;
  shape.d_model = shape.ffn = 8;
  shape.vocabulary = 5;
  return core::make_model(shape, 1, at::kCPU);
}

TEST(NonFiniteUpdates, EndTheRunOnceTooManyAreLeftOutInARow) {
  const auto model = small_model();
  const auto world = dist::make_single_communicator();
  Options options;
  options.nonfinite_limit = 2;
  NonFiniteUpdates updates(options);
  for (int turn = 0; turn < 2; ++turn) {
    updates.went_well();
    for (int update = 0; update < 2; ++update) EXPECT_NO_THROW(updates.left_out(*model, 1, true, *world));
  }
  EXPECT_THROW(updates.left_out(*model, 1, true, *world), FailureOfRank);
  updates.resume(1);  // one was left out before the run was stopped
  EXPECT_NO_THROW(updates.left_out(*model, 1, true, *world));
  EXPECT_EQ(updates.in_a_row(), 2);
  EXPECT_THROW(updates.left_out(*model, 1, true, *world), FailureOfRank);
  options.on_nonfinite = OnNonFinite::stop;
  EXPECT_THROW(NonFiniteUpdates(options).left_out(*model, 1, true, *world), FailureOfRank);
}

TEST(NonFiniteUpdates, SayWhatIsNotFinite) {
  const auto model = small_model();
  const auto world = dist::make_single_communicator();
  const auto said = [&](double loss) {
    const std::string text = NonFiniteUpdates(Options()).left_out(*model, loss, true, *world);
    return text.substr(0, text.find(", from rank 0"));
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(said(1), "the norm of the gradients is not finite");
  EXPECT_EQ(said(nan), "the loss is not finite");
  const std::string first = model->parameters().all().front().name;
  model->parameters().flat_gradient().fill_(nan);
  EXPECT_EQ(said(1), "the gradient of " + first + " is not finite");
  EXPECT_EQ(said(nan), "the loss and the gradient of " + first + " are not finite");
}

}  // namespace
}  // namespace ut::launcher
