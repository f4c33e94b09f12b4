#include "launcher/bench/bench_products.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace ut::launcher {
namespace {

using testing::UnorderedElementsAre;

using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

constexpr std::int64_t sequences = 2;
constexpr std::int64_t length = 6;
constexpr std::int64_t d = 8;
constexpr std::int64_t heads = 2;
constexpr std::int64_t ffn = 16;
constexpr std::int64_t vocabulary = 5;

core::ModelOptions model_with(core::Halting encoder) {
  core::ModelOptions model;
  model.d_model = d;
  model.heads = heads;
  model.ffn = ffn;
  model.vocabulary = vocabulary;
  model.halting.encoder = encoder;
  return model;
}

/// The products of an update on one rank in which source rows took `encoder_steps` and target rows one step.
std::vector<Shape> products(const core::ModelOptions& model, const at::Tensor& encoder_steps, bool has_target) {
  const dist::Mesh mesh(dist::make_single_communicator(), 1);
  UpdateMade made;
  made.rows.source = dist::make_exchange({{0, 1}, {length, length}}, mesh.sequence());
  made.rows.labels = at::zeros({has_target ? sequences * length : sequences}, at::kLong);
  made.encoder_updates = encoder_steps;
  if (has_target) {
    made.rows.target = made.rows.source;
    made.decoder_updates = at::ones({sequences * length}, at::kLong);
  }
  std::vector<Shape> shapes;
  for (const auto& [matrices, rows, inner, columns, count] : products_of_update(model, made, mesh))
    shapes.emplace_back(matrices, rows, inner, columns, count);
  return shapes;
}

TEST(ForwardProducts, AreThoseOfEveryStepAndTheScores) {
  const std::int64_t rows = sequences * length;
  EXPECT_THAT(products(model_with(core::Halting::none), at::full({rows}, 3, at::kLong), false),
              UnorderedElementsAre(Shape{1, rows, d, 3 * d, 3}, Shape{1, rows, d, d, 3},
                                   Shape{sequences * heads, length, d / heads, length, 3},
                                   Shape{sequences * heads, length, length, d / heads, 3}, Shape{1, rows, d, ffn, 3},
                                   Shape{1, rows, ffn, d, 3}, Shape{1, sequences, d, vocabulary, 1}));
}

TEST(ForwardProducts, IncludeThoseWithTheMemoryForADecoder) {
  const std::int64_t rows = sequences * length;
  const auto shapes = products(model_with(core::Halting::none), at::full({rows}, 3, at::kLong), true);
  EXPECT_THAT(shapes, testing::Contains(Shape{1, rows, d, 2 * d, 1}));  // the memory's keys and values, once
  EXPECT_THAT(shapes, testing::Contains(Shape{1, rows, d, d, 2}));      // queries and output
  EXPECT_THAT(shapes, testing::Contains(Shape{sequences * heads, length, d / heads, length, 1}).Times(2));
  EXPECT_THAT(shapes, testing::Contains(Shape{1, rows, d, vocabulary, 1}));
}

TEST(ForwardProducts, LeaveOutRowsThatHaltedForGood) {
  at::Tensor steps = at::ones({sequences * length}, at::kLong);
  steps[0] = 4;  // 15 steps of rows in 4 steps: 4 rows a step, 2 of each sequence
  const std::int64_t rows = 4;
  EXPECT_THAT(products(model_with(core::Halting::act_copy), steps, false),
              UnorderedElementsAre(Shape{1, rows, d, 3 * d, 4}, Shape{1, sequences * length - 1, d, 2 * d, 1},
                                   Shape{1, rows, d, d, 4}, Shape{sequences * heads, 2, d / heads, length, 4},
                                   Shape{sequences * heads, 2, length, d / heads, 4}, Shape{1, rows, d, ffn, 4},
                                   Shape{1, rows, ffn, d, 4}, Shape{1, sequences, d, vocabulary, 1}));
  const auto evolving = products(model_with(core::Halting::act), steps, false);
  EXPECT_THAT(evolving, testing::Contains(Shape{1, sequences * length, d, ffn, 4}));
}

/// The least of ten measurements: on a busy machine some may be delayed.
double least_time_of(const Product& product, at::ScalarType type = at::kFloat) {
  double least = time_of_products({product}, type);
  for (int again = 0; again < 9; ++again) least = std::min(least, time_of_products({product}, type));
  return least;
}

TEST(TimeOfProducts, GrowsWithTheirNumber) {
  const double one = least_time_of({1, 64, 64, 64, 1});
  EXPECT_GT(one, 0);
  EXPECT_GT(time_of_products({{1, 64, 64, 64, 1000}}, at::kFloat), 10 * one);
  EXPECT_EQ(time_of_products({}, at::kFloat), 0);
}

/// Attention computes small products without tensor operations, whose overhead would take most of the time.
TEST(TimeOfProducts, ExcludesTheOverheadOfCallsForSmallMatrices) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    SCOPED_TRACE(at::toString(type));
    EXPECT_LT(least_time_of({2000, 2, 2, 2, 1}, type), 2000 * least_time_of({1, 2, 2, 2, 1}, type) / 5);
  }
}

}  // namespace
}  // namespace ut::launcher
