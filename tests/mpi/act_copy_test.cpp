// Stacks whose rows halt for good (act-copy), over ranks that share the sequences, against one rank that holds
// everything. tests/core/act_copy_test.cpp holds that one rank to a reference.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "dist/gradient_synchronisation.h"
#include "dist/mesh.h"
#include "tests/core/act_copy_reference.h"
#include "tests/mpi/world.h"

namespace ut::core {
namespace {

using Lengths = std::vector<std::int64_t>;

/// The rows of `rank`, if all ranks share the sequences, stop at the first and second step; the others go on. On one
/// rank: the rows that `rank` would hold if there were two.
LastStep one_rank_stops_early(int rank, const Lengths& lengths, std::int64_t steps) {
  return [rank, lengths, steps, ranks = std::max(2, tests::world()->size())](std::int64_t sequence,
                                                                             std::int64_t position) {
    const std::int64_t length = lengths[static_cast<std::size_t>(StackInput::index_of(sequence))];
    const bool stops = dist::owner(sequence, position, length, ranks) == rank;
    return stops ? 1 + position % 2 : steps - (sequence + position) % 3;
  };
}

class MeshActCopy : public testing::TestWithParam<StackKind> {
 protected:
  MeshActCopy() { options_.transition = GetParam().transition; }

  /// Compares this rank's rows on a mesh with the same rows of one rank, for one input.
  void expect_same_rows(const StackPass& mine, const StackPass& one_rank) const {
    const auto my = [&](const at::Tensor& rows) { return rows.index_select(0, mine.rows); };
    expect_close(mine.output.state, my(one_rank.output.state), "outputs");
    EXPECT_TRUE(mine.output.updates.equal(my(one_rank.output.updates))) << "updates";
    expect_close(mine.output.cost, my(one_rank.output.cost), "costs");
    expect_close(mine.state.grad(), my(one_rank.state.grad()), "gradient of the input");
    if (!GetParam().decoder) return;
    expect_close(mine.encoded.grad(), one_rank.encoded.grad().index_select(0, mine.source_rows), "of the memory");
  }

  /// For the next seed's input and parameters, with dropout: `probability` decides halting, or the halting unit if it
  /// is empty. `sequence_parallel` ranks share a sequence.
  void expect_same(const Lengths& lengths, const Probability& probability, int sequence_parallel) {
    const auto key = DropoutKey::for_update(5, 6);
    ++seed_;
    if (!probability) seed_ = seed_of_varied_halting(seed_, 2, options_, GetParam().decoder, lengths, key);
    const StackInput input = random_input(seed_, lengths, options_.d_model);
    const auto single = dist::make_single_communicator();
    const StandaloneStack alone(options_, GetParam().decoder, seed_, probability);
    const StackPass one_rank(alone, input, input.all(), *single, key);
    one_rank.loss.backward();
    const dist::Mesh mesh(tests::world(), sequence_parallel);
    const auto part = base::share(input.all().end, mesh.data_rank(), mesh.data_parallel());
    for (const Recompute recompute : {Recompute::none, Recompute::step}) {
      SCOPED_TRACE(recompute == Recompute::step ? "steps made again" : "steps kept");
      ModelOptions options = options_;
      options.recompute = recompute;
      const StandaloneStack stack(options, GetParam().decoder, seed_, probability);
      const StackPass pass(stack, input, part, mesh.sequence(), key, {}, exchange_);
      pass.loss.backward();
      expect_same_rows(pass, one_rank);
      dist::GradientSynchronisation(stack.parameters.flat_gradient(), {}, mesh.world()).finish();
      expect_close(stack.parameters.flat_gradient(), alone.parameters.flat_gradient(), "gradient of the parameters");
    }
  }

  /// In two forms that differ in every model option. In one of them running rows move between ranks, in the other they
  /// stay; the next call swaps the two.
  void expect_same_in_both_forms(const Lengths& lengths, const Probability& probability = {},
                                 int sequence_parallel = tests::world()->size()) {
    moves_ = !moves_;
    for (const bool other : {false, true}) {
      options_.norm = other ? Norm::pre : Norm::post;
      options_.residual = other ? Residual::signal_in : Residual::signal_out;
      options_.step_signal = other ? StepSignal::learned : StepSignal::sinusoid;
      options_.halting.output = other ? ActOutput::interpolated : ActOutput::accumulated;
      options_.block_layers = other ? 2 : 1;
      options_.halting.balance = other == moves_ ? 1.0 : 0.0;
      SCOPED_TRACE(fmt::format("{} form, balance {}", other ? "other" : "first", options_.halting.balance));
      expect_same(lengths, probability, sequence_parallel);
    }
  }

  ModelOptions options_ = act_copy_options();
  dist::ExchangeOptions exchange_;
  std::int64_t steps_ = options_.encoder_steps;
  std::uint64_t seed_ = 0;
  bool moves_ = false;
};

TEST_P(MeshActCopy, GivesTheSameWhereTheUnitDecides) {
  expect_same_in_both_forms({7, 1, 9});
  expect_same_in_both_forms({5, 4});
}

TEST_P(MeshActCopy, GivesTheSameWhereSequencesDecide) {
  options_.halting.kind = ActKind::global;
  expect_same_in_both_forms({7, 1, 5, 4});
}

TEST_P(MeshActCopy, GivesTheSameWhereRowsHaltAtRandom) {
  for (const std::int64_t seed : {1, 2}) {
    SCOPED_TRACE(fmt::format("draw {}", seed));
    expect_same_in_both_forms({5, 9, 2}, halting_at(random_last_step(seed, steps_)));
  }
}

TEST_P(MeshActCopy, GivesTheSameWhereAllRowsOfARankHalt) {
  const Lengths lengths{8, 4, 5};
  for (const int rank : {0, tests::world()->size() - 1}) {
    SCOPED_TRACE(fmt::format("those of rank {}", rank));
    expect_same_in_both_forms(lengths, halting_at(one_rank_stops_early(rank, lengths, steps_)));
  }
}

TEST_P(MeshActCopy, GivesTheSameWhereASequenceHaltsBeforeTheOthers) {
  expect_same_in_both_forms({4, 6, 5}, halting_at([](auto sequence, auto position) {
                              return StackInput::index_of(sequence) == 1 ? 1 + position % 2 : 3 + position % 3;
                            }));
}

TEST_P(MeshActCopy, GivesTheSameForSequencesShorterThanTheRanks) {
  expect_same_in_both_forms({1, 2, 1, 3}, halting_at(random_last_step(4, steps_)));
  expect_same_in_both_forms({1}, halting_at(random_last_step(5, steps_)));
}

TEST_P(MeshActCopy, GivesTheSameWhereGroupsOfRanksShareSequences) {
  const int ranks = tests::world()->size();
  for (int sequence_parallel = 1; sequence_parallel < ranks; ++sequence_parallel) {
    if (ranks % sequence_parallel != 0) continue;
    SCOPED_TRACE(fmt::format("mesh {}x{}", ranks / sequence_parallel, sequence_parallel));
    expect_same_in_both_forms({5, 9, 2}, halting_at(random_last_step(6, steps_)), sequence_parallel);
  }
}

TEST_P(MeshActCopy, GivesTheSameInEveryExchangeForm) {
  options_.heads = 4;
  options_.d_model = 16;
  const dist::Cut cut = GetParam().decoder ? dist::Cut::zigzag : dist::Cut::contiguous;
  for (const auto& [form, sent] : {std::pair{dist::ExchangeForm::broadcast, dist::Sent::keys_values},
                                   {dist::ExchangeForm::ring, dist::Sent::states},
                                   {dist::ExchangeForm::heads, dist::Sent::keys_values},
                                   {dist::ExchangeForm::all_gather, dist::Sent::states}}) {
    SCOPED_TRACE(fmt::format("form {}, sent {}", static_cast<int>(form), static_cast<int>(sent)));
    exchange_ = {form, sent, cut};
    expect_same_in_both_forms({5, 9, 2}, halting_at(random_last_step(7, steps_)));
    expect_same_in_both_forms({1, 6});
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, MeshActCopy,
                         testing::Values(StackKind{false, TransitionKind::feed_forward},
                                         StackKind{false, TransitionKind::separable_convolution},
                                         StackKind{true, TransitionKind::feed_forward},
                                         StackKind{true, TransitionKind::separable_convolution}),
                         [](const auto& kind) { return name_of(kind.param); });

/// An encoder whose sequences all ranks share. All rows of rank 0 stop early, and so do some others.
class MeshActCopyCost : public testing::Test {
 protected:
  /// The bytes that this rank sent for the exchange in a forward pass.
  std::int64_t forward_bytes(const StepObserver& observer = {}) const {
    const StackInput input = random_input(1, lengths_, options_.d_model);
    const StandaloneStack stack(options_, false, 1, halting_at(last_));
    const auto sent = [&] { return world_->sent_bytes().at(static_cast<std::size_t>(dist::Purpose::exchange)); };
    const std::int64_t before = sent();
    const StackPass pass(stack, input, input.all(), *world_, {}, observer);
    return sent() - before;
  }

  /// How many rows this rank computed at each step.
  std::vector<std::int64_t> rows_by_step() const {
    std::vector<std::int64_t> counts;
    const auto step_made = [&](std::int64_t, const dist::Rows& rows, const at::Tensor&, const HaltingState*,
                               const at::Tensor&) { counts.push_back(rows.count()); };
    forward_bytes({step_made, {}});
    return counts;
  }

  /// The last steps of the rows of a sequence.
  std::vector<std::int64_t> last_steps(std::int64_t index) const {
    std::vector<std::int64_t> steps;
    for (std::int64_t position = 0; position < lengths_[static_cast<std::size_t>(index)]; ++position)
      steps.push_back(last_(StackInput::id_of(index), position));
    return steps;
  }

  bool is_held_by(int rank, std::size_t index, std::int64_t position) const {
    return dist::owner(StackInput::id_of(static_cast<std::int64_t>(index)), position, lengths_[index],
                       world_->size()) == rank;
  }

  /// How often rows of this rank are to be sent: at each of a row's steps, and once more if its sequence runs on.
  std::int64_t times_sent() const {
    std::int64_t times = 0;
    for (std::size_t index = 0; index < lengths_.size(); ++index) {
      const auto steps = last_steps(static_cast<std::int64_t>(index));
      for (std::int64_t position = 0; position < lengths_[index]; ++position) {
        if (!is_held_by(world_->rank(), index, position)) continue;
        const std::int64_t last = steps[static_cast<std::size_t>(position)];
        times += last + (last < *std::ranges::max_element(steps) ? 1 : 0);
      }
    }
    return times;
  }

  /// How often rows of this rank are to be sent for convolutions: to each rank that runs a row within `reach` of them.
  std::int64_t times_sent_beside(std::int64_t reach) const {
    std::int64_t times = 0;
    for (std::size_t index = 0; index < lengths_.size(); ++index) {
      const auto steps = last_steps(static_cast<std::int64_t>(index));
      const std::int64_t length = lengths_[index];
      for (std::int64_t position = 0; position < length; ++position) {
        if (!is_held_by(world_->rank(), index, position)) continue;
        for (std::int64_t step = 1; step <= steps[static_cast<std::size_t>(position)] + 1; ++step) {
          std::set<int> to;
          for (std::int64_t other = std::max<std::int64_t>(0, position - reach);
               other < std::min(length, position + reach + 1); ++other)
            for (int rank = 0; rank < world_->size(); ++rank)
              if (steps[static_cast<std::size_t>(other)] >= step && is_held_by(rank, index, other)) to.insert(rank);
          to.erase(world_->rank());
          times += std::ssize(to);
        }
      }
    }
    return times;
  }

  ModelOptions options_ = act_copy_options();
  std::unique_ptr<dist::Communicator> world_ = tests::world();
  Lengths lengths_{8, 1, 5};
  LastStep last_ = one_rank_stops_early(0, lengths_, options_.encoder_steps);
};

TEST_F(MeshActCopyCost, IsThatOfKeysValuesAndHalos) {
  for (const std::int64_t block_layers : {1, 2})
    for (const auto transition : {TransitionKind::feed_forward, TransitionKind::separable_convolution}) {
      options_.block_layers = block_layers;
      options_.transition = transition;
      const auto to = static_cast<std::int64_t>(world_->size()) - 1;
      const std::int64_t beside = transition == TransitionKind::feed_forward ? 0 : times_sent_beside(1 + 2);
      EXPECT_EQ(forward_bytes(), (2 * times_sent() * to + beside) * block_layers * options_.d_model * 8)
          << block_layers << " layers, " << beside << " states for convolutions of 3 and 5 places";
    }
}

TEST_F(MeshActCopyCost, IsNothingForARankWhoseRowsHaveHalted) {
  const auto rows = rows_by_step();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(options_.encoder_steps));
  const bool halted = world_->rank() == 0 && world_->size() > 1;
  for (std::size_t step = 2; step < rows.size() - 2; ++step) EXPECT_EQ(rows[step] == 0, halted) << "step " << step + 1;
}

TEST_F(MeshActCopyCost, IsSharedEvenlyWhereRowsMove) {
  options_.halting.balance = 1;
  const auto rows = rows_by_step();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(options_.encoder_steps));
  for (std::size_t step = 1; step < rows.size(); ++step) {
    const at::Tensor all = at::full({1}, rows[step], at::kLong);
    world_->all_reduce_sum(all, dist::Purpose::control);
    const auto ranks = static_cast<std::int64_t>(world_->size());
    EXPECT_LE(rows[step], (all.item<std::int64_t>() + ranks - 1) / ranks) << "step " << step + 1;
  }
}

}  // namespace
}  // namespace ut::core
