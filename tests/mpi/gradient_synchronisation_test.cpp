#include "dist/gradient_synchronisation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/mpi/world.h"

namespace ut::dist {
namespace {

TEST(NonFiniteGradients, AreFoundAnywhere) {
  const std::unique_ptr<Communicator> ranks = tests::world();
  if (ranks->size() == 1) return;  // with one rank, no sum can hide whose NaN it is
  for (const std::int64_t place : {1, 4, 9}) {
    const at::Tensor gradient = at::ones({10}, at::kDouble);
    if (ranks->rank() == 1) gradient[place] = std::numeric_limits<double>::quiet_NaN();
    GradientSynchronisation synchronisation(gradient, {3, 7}, *ranks);
    synchronisation.start_early();
    synchronisation.finish();
    EXPECT_EQ(synchronisation.were_finite(), ranks->rank() != 1) << place;
    EXPECT_FALSE(gradient[place].isfinite().item<bool>());
  }
}

}  // namespace
}  // namespace ut::dist
