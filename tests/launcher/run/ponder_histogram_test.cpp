#include "launcher/run/ponder_histogram.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace ut::launcher {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;

at::Tensor steps(const std::vector<std::int64_t>& of_rows) { return at::tensor(of_rows, at::kLong); }

TEST(PonderHistogram, GivesMeanDeviationAndSharesOfAllRows) {
  PonderHistogram counts;
  counts.add(steps({1, 3, 3}));
  counts.add(steps({1, 2}));
  counts.add(steps({}));
  counts.add(at::Tensor());
  EXPECT_EQ(counts.rows(), 5);
  EXPECT_DOUBLE_EQ(counts.mean(), 2);
  EXPECT_DOUBLE_EQ(counts.standard_deviation(), std::sqrt(0.8));
  EXPECT_THAT(counts.histogram(), ElementsAre(2, 1, 2));
  EXPECT_THAT(counts.running_share(), ElementsAre(DoubleEq(1), DoubleEq(0.6), DoubleEq(0.4)));
}

TEST(PonderHistogram, HasAPlaceForEveryStepIfSummedOverRanks) {
  PonderHistogram counts;
  counts.add(steps({2}));
  const auto group = dist::make_single_communicator();
  counts.sum_over(*group, 4);
  EXPECT_THAT(counts.histogram(), ElementsAre(0, 1, 0, 0));
}

core::Prediction prediction() { return {{}, {steps({2, 2}), {}}, {steps({1, 3, 3, 3}), {}}}; }

TEST(PonderHistograms, DescribeOnlyStacksThatHalt) {
  core::HaltingOptions halting;
  PonderHistograms none;
  none.add(prediction(), halting);
  EXPECT_TRUE(none.is_empty());
  EXPECT_THAT(describe(none), IsEmpty());
  EXPECT_THAT(describe_histogram(none), IsEmpty());

  halting.decoder = core::Halting::act_copy;
  PonderHistograms decoder;
  decoder.add(prediction(), halting);
  EXPECT_FALSE(to_json(decoder).contains("encoder"));
  EXPECT_DOUBLE_EQ(to_json(decoder).at("decoder").at("mean").get<double>(), 2.5);
  EXPECT_EQ(describe(decoder), "ponder time 2.50 ± 0.87 in the decoder");
  EXPECT_EQ(describe_histogram(decoder), "steps in the decoder:  1 25.0 %  3 75.0 %\n");

  halting.encoder = core::Halting::act;
  PonderHistograms both;
  both.add(prediction(), halting);
  EXPECT_DOUBLE_EQ(both.mean(), 14.0 / 6);
  EXPECT_EQ(describe(both), "ponder time 2.00 ± 0.00 in the encoder, 2.50 ± 0.87 in the decoder");
}

}  // namespace
}  // namespace ut::launcher
