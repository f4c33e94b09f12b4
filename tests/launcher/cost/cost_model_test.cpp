#include "launcher/cost/cost_model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launcher/cost/collective_cost.h"
#include "launcher/cost/machine_numbers.h"
#include "launcher/plan/mesh_choice.h"
#include "tests/bad_input.h"

namespace ut::launcher {
namespace {

RateCurve always(double rate) { return {{1, rate}}; }

/// One number for each rate, so that expected results can be computed by hand.
MachineNumbers simple_machine() {
  MachineNumbers machine;
  machine.source = "made up";
  machine.products = always(1e10);
  machine.batched_products = always(1e10);
  machine.element_wise = always(1e10);
  machine.random_numbers = 1e9;
  machine.exponentials = 1e9;
  machine.row_moves = 1e8;
  machine.operation = 1e-6;
  machine.overlap = 0.5;
  machine.memory_bytes = 1e12;
  machine.within = {1e-6, always(1e9), always(1e9)};
  machine.between = {1e-4, always(1e8), always(1e8)};
  return machine;
}

Workload small_work() {
  Workload work;
  work.model.d_model = 64;
  work.model.heads = 4;
  work.model.ffn = 256;
  work.model.vocabulary = 32;
  work.sequences = 32;
  return work;
}

Layout layout_of(std::int64_t nodes, std::int64_t per_node, std::int64_t shared) {
  Layout layout;
  layout.nodes = nodes;
  layout.ranks_per_node = per_node;
  layout.sequence_parallel = shared;
  return layout;
}

TEST(RateCurve, IsInterpolatedOverLogarithmsAndEndsAreKept) {
  const RateCurve curve = {{10, 1}, {1000, 100}};
  EXPECT_EQ(rate_at(curve, 1), 1);
  EXPECT_NEAR(rate_at(curve, 100), 10, 1e-9);
  EXPECT_EQ(rate_at(curve, 1e6), 100);
}

TEST(CostModel, ProductsAreThreeTimesTheForwardPasses) {
  Workload work = small_work();
  work.model.architecture = core::Architecture::encoder;
  work.target_rows = 0;
  work.labels_per_sequence = 1;
  const Prediction made = predict(work, {}, simple_machine());
  const double rows = 32 * 40;
  const double step = 2 * rows * (64 * 3 * 64 + 64 * 64 + 2 * 64 * 256);
  const double scores = 2.0 * 32 * 64 * 32;
  EXPECT_NEAR(made.seconds.products, 3 * (4 * step + scores) / 1e10, 1e-9);
}

TEST(CostModel, OneRankExchangesNothingAndHasEfficiencyOne) {
  const Prediction made = predict(small_work(), {}, simple_machine());
  EXPECT_EQ(made.seconds.exchange, 0);
  EXPECT_EQ(made.seconds.gradients, 0);
  EXPECT_EQ(made.exchanged_bytes, 0);
  EXPECT_EQ(made.efficiency, 1);
}

TEST(CostModel, WorkFallsWithPonderTimeWhereHaltedRowsLeave) {
  Workload work = small_work();
  work.model.encoder_steps = work.model.decoder_steps = 12;
  work.model.halting.encoder = work.model.halting.decoder = core::Halting::act_copy;
  const auto seconds = [&](double ponder) {
    work.ponder = ponder;
    return predict(work, {}, simple_machine()).seconds;
  };
  EXPECT_NEAR(seconds(3).products / seconds(12).products, 0.27, 0.05);
  EXPECT_LT(seconds(3).attention, 0.5 * seconds(12).attention);
  work.model.halting.encoder = work.model.halting.decoder = core::Halting::act;
  EXPECT_GT(seconds(3).products, 0.95 * seconds(12).products);
}

TEST(CostModel, AllReduceDoesNotGrowWithSteps) {
  Workload work = small_work();
  const Layout layout = layout_of(1, 4, 1);
  const double four = predict(work, layout, simple_machine()).seconds.gradients;
  work.model.encoder_steps = work.model.decoder_steps = 8;
  EXPECT_EQ(predict(work, layout, simple_machine()).seconds.gradients, four);
  EXPECT_GT(four, 2 * 0.75 * 4 * parameter_count(work.model) / 1e9);
}

TEST(CostModel, SlowerLinksTakeLongerOnlyWhereTheyAreCrossed) {
  MachineNumbers slow = simple_machine();
  slow.between.gather = slow.between.reduce = always(1e7);
  const auto exchange = [&](const Layout& layout, const MachineNumbers& machine) {
    return predict(small_work(), layout, machine).seconds.exchange;
  };
  const Layout inside = layout_of(2, 2, 2);
  EXPECT_EQ(exchange(inside, slow), exchange(inside, simple_machine()));
  const Layout across = layout_of(2, 2, 4);
  EXPECT_GT(exchange(across, slow), 5 * exchange(across, simple_machine()));
}

TEST(CostModel, RanksBeyondTheCoresShareThem) {
  MachineNumbers machine = simple_machine();
  machine.cores_per_node = 2;
  Workload work = small_work();
  const auto seconds = [&](std::int64_t ranks) {
    work.sequences = 32 * ranks;  // the same work for each rank
    return predict(work, layout_of(1, ranks, 1), machine).seconds.products;
  };
  EXPECT_NEAR(seconds(2), seconds(1), 1e-12);
  EXPECT_NEAR(seconds(4), 2 * seconds(1), 1e-12);
}

TEST(CostModel, SendingStatesHalvesTheBytesAndAddsProducts) {
  Layout layout = layout_of(1, 4, 4);
  const Prediction both = predict(small_work(), layout, simple_machine());
  layout.exchange.sent = dist::Sent::states;
  const Prediction states = predict(small_work(), layout, simple_machine());
  EXPECT_NEAR(states.exchanged_bytes, both.exchanged_bytes / 2, 1);
  EXPECT_GT(states.seconds.products, both.seconds.products);
}

TEST(CostModel, ADecoderAloneIsAnEncoderThatSeesBackwards) {
  Workload encoder = small_work();
  encoder.model.architecture = core::Architecture::encoder;
  encoder.target_rows = 0;
  encoder.labels_per_sequence = 40;
  Workload decoder = small_work();
  decoder.model.architecture = core::Architecture::decoder;
  decoder.source_rows = 0;
  decoder.labels_per_sequence = 40;
  EXPECT_EQ(parameter_count(decoder.model), parameter_count(encoder.model));
  const Prediction one = predict(encoder, layout_of(1, 2, 2), simple_machine());
  const Prediction other = predict(decoder, layout_of(1, 2, 2), simple_machine());
  EXPECT_EQ(other.seconds.products, one.seconds.products);
  EXPECT_EQ(other.exchanged_bytes, one.exchanged_bytes);
  EXPECT_EQ(other.peak_bytes, one.peak_bytes);
}

TEST(CostModel, BytesOfAllGatherAreThoseThatAreSent) {
  Workload work = small_work();
  work.model.architecture = core::Architecture::encoder;
  work.target_rows = 0;
  const Prediction made = predict(work, layout_of(1, 2, 2), simple_machine());
  constexpr double rows = 32 * 40;
  constexpr double steps = 4;
  EXPECT_EQ(made.exchanged_bytes, steps * 2 * rows * 2 * 64 * 4);  // forward and backward; keys and values
}

TEST(CostModel, HiddenTransfersAreNotWaitedFor) {
  Workload work = small_work();
  work.longest = 1024;
  work.source_rows = work.target_rows = 1024;
  Layout layout = layout_of(1, 4, 4);
  const double all = predict(work, layout, simple_machine()).seconds.exchange;
  layout.exchange.form = dist::ExchangeForm::broadcast;
  EXPECT_LT(predict(work, layout, simple_machine()).seconds.exchange, all);
}

TEST(CostModel, ActivationsAreSharedByRanksAndGrowWithSteps) {
  Workload work = small_work();
  const double held = 16 * parameter_count(work.model);
  const auto activations = [&](const Layout& layout) {
    return predict(work, layout, simple_machine()).peak_bytes - held;
  };
  const double four = activations({});
  EXPECT_NEAR(activations(layout_of(1, 2, 1)), four / 2, four / 50);
  work.model.encoder_steps = work.model.decoder_steps = 8;
  EXPECT_NEAR(activations({}), 2 * four, four / 10);
}

TEST(CostModel, ConvolutionsKeepMoreAndSendAsMuch) {
  Workload work = small_work();
  work.model.architecture = core::Architecture::encoder;
  work.target_rows = 0;
  work.model.halting.encoder = core::Halting::act_copy;
  const Layout cut = layout_of(1, 2, 2);
  const auto made = [&](core::TransitionKind kind) {
    work.model.transition = kind;
    return predict(work, cut, simple_machine());
  };
  const Prediction feed_forward = made(core::TransitionKind::feed_forward);
  const Prediction convolution = made(core::TransitionKind::separable_convolution);
  EXPECT_GT(convolution.exchanged_bytes, feed_forward.exchanged_bytes);          // rows beside the cut
  const double rows_of_steps = feed_forward.exchanged_bytes / 2 / (2 * 64 * 4);  // sent both ways, as keys and values
  const double filters = 16 * (3 * 64 + 5 * 256);                                // their values, gradients and moments
  const double states = 2 * (32 * 40) * 64 * 4;                                  // halted ones, and their gradients
  EXPECT_NEAR(convolution.peak_bytes - feed_forward.peak_bytes, rows_of_steps / 2 * (64 + 256) * 4 + filters + states,
              0.1 * feed_forward.peak_bytes);
}

TEST(CostModel, CountsParameters) {
  Workload work = small_work();
  constexpr double width = 64;
  constexpr double inner = 256;
  constexpr double encoder = 4 * width * width + 2 * width * inner + inner + width + 4 * width;
  constexpr double decoder = encoder + 4 * width * width + 2 * width;
  EXPECT_EQ(parameter_count(work.model), 32 * width + encoder + decoder);
}

TEST(CostModel, AttentionOfUnequalLengthsIsThatOfTheirSquares) {
  Workload work = small_work();
  work.source_rows = work.target_rows = 20;
  const double equal = predict(work, {}, simple_machine()).seconds.attention;
  work.longest = 39;
  EXPECT_EQ(predict(work, {}, simple_machine()).seconds.attention, equal);
  work.length_spread = 1.5;
  EXPECT_GT(predict(work, {}, simple_machine()).seconds.attention, 1.2 * equal);
  EXPECT_LT(predict(work, {}, simple_machine()).seconds.attention, 1.5 * equal + 1e-9);
}

TEST(CostModel, StepsMadeAgainSendAgain) {
  Workload work = small_work();
  work.model.architecture = core::Architecture::encoder;
  work.target_rows = 0;
  const Layout cut = layout_of(1, 2, 2);
  const double once = predict(work, cut, simple_machine()).exchanged_bytes;
  work.model.recompute = core::Recompute::step;
  EXPECT_NEAR(predict(work, cut, simple_machine()).exchanged_bytes, 1.5 * once, 1);
}

TEST(CollectiveCost, AllRanksOfANodeSendToTheOthersOverOneLink) {
  const MachineNumbers machine = simple_machine();
  const CollectiveCost group(machine, 16, 8);
  EXPECT_NEAR(group.all_to_all_seconds(1e4), 64 * 1e4 / 1e8 + 3e-6 + 1e-4, 1e-9);
}

TEST(CollectiveCost, GroupsThatBeginWithinANodeCrossToTheNext) {
  const MachineNumbers machine = simple_machine();
  EXPECT_EQ(CollectiveCost(machine, 4, 8).round_seconds(), machine.within.latency);
  EXPECT_EQ(CollectiveCost(machine, 4, 6).round_seconds(), machine.between.latency);
  EXPECT_EQ(CollectiveCost(machine, 3, 8).round_seconds(), machine.between.latency);
}

TEST(CollectiveCost, LargeGroupsCrossNodesOnce) {
  const MachineNumbers machine = simple_machine();
  const CollectiveCost group(machine, 16, 8);
  EXPECT_NEAR(group.gather_seconds(1.6e6), 1.5e6 / 1e8 + 3e-6 + 1e-4, 1e-9);
  EXPECT_NEAR(group.all_reduce_seconds(8e6), 14e6 / 1e9 + 8e6 / 1e8 + 6e-6 + 2e-4, 1e-9);
}

TEST(Candidates, ArePossibleAndTheFastestThatFitsIsFirst) {
  MachineNumbers machine = simple_machine();
  const Workload work = small_work();
  const auto all = candidates(work, 1, 8, machine);
  for (const Candidate& one : all) {
    EXPECT_TRUE(is_possible(work, one.layout));
    EXPECT_GE(one.prediction.seconds.total(), all.front().prediction.seconds.total());
  }
  EXPECT_EQ(best_of_each_mesh(all).size(), 4);         // sequence-parallel 1, 2, 4, 8
  EXPECT_EQ(all.front().layout.sequence_parallel, 1);  // 32 sequences are enough for 8 ranks
  machine.memory_bytes = all.front().prediction.peak_bytes - 1;
  EXPECT_FALSE(candidates(work, 1, 8, machine).back().fits);
}

TEST(Candidates, RanksOnCpusShareTheirHostsMemory) {
  MachineNumbers machine = simple_machine();
  const Workload work = small_work();
  machine.memory_bytes = 4 * candidates(work, 1, 8, machine).front().prediction.peak_bytes;
  EXPECT_TRUE(candidates(work, 1, 8, machine).front().fits) << "GPUs are not shared";
  machine.cores_per_node = 8;  // measured with one rank, which had it all
  EXPECT_FALSE(candidates(work, 1, 8, machine).front().fits);
}

TEST(Candidates, OneLongSequenceIsCut) {
  Workload work = small_work();
  work.sequences = 1;
  work.longest = work.labels_per_sequence = 4096;
  work.source_rows = work.target_rows = 4096;
  const auto all = candidates(work, 1, 4, simple_machine());
  EXPECT_EQ(all.front().layout.sequence_parallel, 4);
  EXPECT_FALSE(reasons(work, all).empty());
  EXPECT_EQ(choose_layout(work, 1, 4, simple_machine(), {}).sequence_parallel, 4);
  FixedChoices fixed;
  fixed.sequence_parallel = 2;
  fixed.form = dist::ExchangeForm::ring;
  const Layout layout = choose_layout(work, 1, 4, simple_machine(), fixed);
  EXPECT_EQ(layout.sequence_parallel, 2);
  EXPECT_EQ(layout.exchange.form, dist::ExchangeForm::ring);
  fixed.sequence_parallel = 3;
  EXPECT_NE(tests::bad_input([&] { choose_layout(work, 1, 4, simple_machine(), fixed); }), "");
  fixed.sequence_parallel = 4;
  work.longest = 3;
  EXPECT_EQ(choose_layout(work, 1, 4, simple_machine(), fixed).sequence_parallel, 4) << "a share may be empty";
  EXPECT_LT(choose_layout(work, 1, 4, simple_machine(), {}).sequence_parallel, 4);
}

TEST(MachineNumbers, AreReadAsTheyWereWritten) {
  for (const std::string& name : machine_names()) {
    const MachineNumbers machine = machine_named(name);
    EXPECT_EQ(to_json(parse_machine_numbers(to_json(machine).dump(), "x")), to_json(machine)) << name;
  }
  EXPECT_NE(tests::bad_input([] { machine_named("abacus"); }), "");
}

TEST(MachineNumbers, AGpuHasItsOwnSheetAndMemory) {
  const MachineNumbers a100 = machine_of_gpu("NVIDIA A100-SXM4-40GB", 40e9);
  EXPECT_EQ(a100.products.back().per_second, machine_named("a100").products.back().per_second);
  EXPECT_EQ(a100.memory_bytes, 40e9);
  EXPECT_EQ(machine_of_gpu("NVIDIA B200", 180e9).products.back().per_second,
            machine_named("h100").products.back().per_second);
}

TEST(MachineNumbers, WhatIsWrongInAFileIsNamed) {
  const auto refused = [](const std::string& name, const nlohmann::json& value) {
    nlohmann::json json = to_json(simple_machine());
    json[name] = value;
    return tests::bad_input([&] { parse_machine_numbers(json.dump(), "my.json"); });
  };
  EXPECT_EQ(refused("operation", 1e-6), "");
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"operation", -1},
                                                           {"memory_bytes", "much"},
                                                           {"products", nlohmann::json::array()},
                                                           {"products", {{2, 1}, {1, 1}}},
                                                           {"within", 3},
                                                           {"cores_per_node", 1e300},
                                                           {"threads", 0}}) {
    const std::string message = refused(name, value);
    EXPECT_NE(message.find("my.json: \"" + name + "\" needs "), std::string::npos) << message;
  }
  EXPECT_NE(tests::bad_input([] { parse_machine_numbers("no", "my.json"); }), "");
}

}  // namespace
}  // namespace ut::launcher
