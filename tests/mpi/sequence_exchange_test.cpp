// The exchange of rows between the ranks of a sequence, and its backward pass, against direct computation.

#include "dist/sequence_exchange.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/philox.h"
#include "dist/heads.h"
#include "dist/running_exchange.h"
#include "tests/mpi/world.h"

namespace ut::dist {
namespace {

constexpr std::int64_t columns = 3;

/// A number in -1..1, a function of `seed` and `of`.
double number(std::uint64_t seed, std::initializer_list<std::int64_t> of) {
  for (const std::int64_t part : of) seed = base::mix(seed, static_cast<std::uint64_t>(part));
  return static_cast<double>(seed >> 11) * 0x1p-52 - 1;
}

/// The values of these rows: number(seed, (sequence, position, column)). [rows, columns]
at::Tensor values_of(const Rows& rows, std::uint64_t seed) {
  at::Tensor values = at::empty({rows.count(), columns}, at::kDouble);
  auto value = values.accessor<double, 2>();
  for (std::int64_t row = 0; row < rows.count(); ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      value[row][column] =
          number(seed, {rows.sequence[row].item<std::int64_t>(), rows.position[row].item<std::int64_t>(), column});
  return values;
}

Sequences random_sequences(std::uint64_t seed) {
  base::Random random(seed);
  Sequences sequences;
  for (auto count = random.uniform(1, 6); count > 0; --count) {
    sequences.ids.push_back(10 * count);
    sequences.lengths.push_back(random.uniform(1, random.uniform(1, 20)));  // often short
  }
  return sequences;
}

/// How far a convolution looks to either side.
struct Reach {
  std::int64_t before;
  std::int64_t after;
};

/// Weights of the neighbours that each of `rows` sees: a function of the row and the place. [rows, places, columns]
at::Tensor weights_of(const Rows& rows, const Reach& reach) {
  std::vector<at::Tensor> places;
  for (std::int64_t place = 0; place <= reach.before + reach.after; ++place)
    places.push_back(values_of(rows, static_cast<std::uint64_t>(500 + place)));
  return at::stack(places, 1);
}

/// Each of `rows` with its neighbours, computed directly by number(). [rows, places, columns]
at::Tensor expected_neighbours(const Rows& rows, const Sequences& sequences, const Reach& reach) {
  at::Tensor result = at::zeros({rows.count(), reach.before + 1 + reach.after, columns}, at::kDouble);
  auto value = result.accessor<double, 3>();
  for (std::size_t index = 0; index < sequences.ids.size(); ++index)
    for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
      for (std::int64_t place = 0; place <= reach.before + reach.after; ++place) {
        const std::int64_t position = rows.position[row].item<std::int64_t>() + place - reach.before;
        if (position < 0 || position >= sequences.lengths[index]) continue;
        for (std::int64_t column = 0; column < columns; ++column)
          value[row][place][column] = number(1, {sequences.ids[index], position, column});
      }
  return result;
}

/// What each row sees, zeros in empty places. [rows, places, columns]
at::Tensor windows_of(const Neighbours& seen) {
  const at::Tensor zeros = at::zeros({1, seen.rows.size(1)}, seen.rows.options());
  std::vector<at::Tensor> known{seen.rows};
  if (seen.received.defined()) known.push_back(seen.received);
  const at::Tensor all = at::cat(known);
  const at::Tensor places = at::where(seen.table < 0, all.size(0), seen.table);
  return at::cat({all, zeros}).index_select(0, places.flatten()).view({places.size(0), places.size(1), all.size(1)});
}

/// The gradient of (neighbours * weights).sum(), over all rows, with respect to each of `rows`. [rows, columns]
at::Tensor expected_neighbours_gradient(const Rows& rows, const Sequences& sequences, const Reach& reach) {
  at::Tensor result = at::zeros({rows.count(), columns}, at::kDouble);
  auto value = result.accessor<double, 2>();
  for (std::size_t index = 0; index < sequences.ids.size(); ++index)
    for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
      for (std::int64_t place = 0; place <= reach.before + reach.after; ++place) {
        const std::int64_t seen_by = rows.position[row].item<std::int64_t>() + reach.before - place;
        if (seen_by < 0 || seen_by >= sequences.lengths[index]) continue;
        for (std::int64_t column = 0; column < columns; ++column)
          value[row][column] +=
              number(static_cast<std::uint64_t>(500 + place), {sequences.ids[index], seen_by, column});
      }
  return result;
}

/// Calls check(exchange, sequences, group) for many draws of sequences.
template <class Check>
void for_draws(const Check& check) {
  const auto group = tests::world();
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Sequences sequences = random_sequences(seed);
    for (const auto form : {ExchangeForm::all_gather, ExchangeForm::broadcast, ExchangeForm::ring})
      for (const auto cut : {Cut::contiguous, Cut::zigzag}) {
        SCOPED_TRACE(fmt::format("draw {}, form {}, cut {}", seed, static_cast<int>(form), static_cast<int>(cut)));
        check(*make_exchange(sequences, *group, {form, Sent::keys_values, cut}), sequences, *group);
      }
  }
}

TEST(SequenceExchange, ListsTheRowsOfThisRankAndAllRows) {
  for_draws([](const SequenceExchange& exchange, const Sequences& sequences, const Communicator& group) {
    const Rows local = rows_of(sequences, group.rank(), group.size(), exchange.holdings().options.cut);
    EXPECT_TRUE(exchange.local().sequence.equal(local.sequence));
    EXPECT_TRUE(exchange.local().position.equal(local.position));
    EXPECT_EQ(exchange.local().offsets, local.offsets);
    const Rows all = rows_of(sequences, 0, 1);
    EXPECT_TRUE(exchange.all().sequence.equal(all.sequence));
    EXPECT_TRUE(exchange.all().position.equal(all.position));
    EXPECT_EQ(exchange.all().offsets, all.offsets);
  });
}

TEST(SequenceExchange, GathersEveryRowInItsOrder) {
  for_draws([](const SequenceExchange& exchange, const Sequences&, const Communicator&) {
    const at::Tensor gathered = exchange.gather(values_of(exchange.local(), 1));
    EXPECT_TRUE(gathered.equal(values_of(exchange.all(), 1)));
    EXPECT_FALSE(gathered.requires_grad());
  });
}

TEST(SequenceExchange, GatherSumsTheGradientsOfAllRanks) {
  for_draws([](const SequenceExchange& exchange, const Sequences&, const Communicator& group) {
    at::Tensor rows = values_of(exchange.local(), 1).requires_grad_();
    const auto weights_at = [](int rank) { return 100 + static_cast<std::uint64_t>(rank); };
    (exchange.gather(rows) * values_of(exchange.all(), weights_at(group.rank()))).sum().backward();
    at::Tensor expected = at::zeros_like(rows);
    for (int rank = 0; rank < group.size(); ++rank) expected += values_of(exchange.local(), weights_at(rank));
    EXPECT_TRUE(rows.grad().allclose(expected, 1e-13, 1e-13));
  });
}

TEST(SequenceExchange, NeighboursAreTheRowsBesideEachAndZerosBeyondTheEnds) {
  for_draws([](const SequenceExchange& exchange, const Sequences& sequences, const Communicator&) {
    for (const Reach reach : {Reach{1, 1}, {2, 2}, {2, 0}, {4, 0}, {1, 1}}) {
      at::Tensor rows = values_of(exchange.local(), 1).requires_grad_();
      const at::Tensor neighbours = windows_of(exchange.neighbours(rows, reach.before, reach.after));
      EXPECT_TRUE(neighbours.equal(expected_neighbours(exchange.local(), sequences, reach)))
          << reach.before << " before, " << reach.after << " after";
      (neighbours * weights_of(exchange.local(), reach)).sum().backward();
      EXPECT_TRUE(rows.grad().allclose(expected_neighbours_gradient(exchange.local(), sequences, reach), 1e-13, 1e-13))
          << reach.before << " before, " << reach.after << " after";
    }
  });
}

TEST(SequenceExchange, RunsBackwardThroughSeveralSteps) {
  for_draws([](const SequenceExchange& exchange, const Sequences& sequences, Communicator& group) {
    const auto steps = [](const SequenceExchange& over, at::Tensor state) {
      for (int step = 0; step < 3; ++step) {
        state = at::sin(windows_of(over.neighbours(state, 2, 2)).sum(1)) + state;
        state = state + 0.1 * at::tanh(over.gather(state)).sum(0);
      }
      return (state * state).sum();
    };
    const auto single = make_single_communicator();
    const auto dense = make_exchange(sequences, *single);
    at::Tensor all = values_of(dense->local(), 1).requires_grad_();
    const at::Tensor dense_loss = steps(*dense, all);
    dense_loss.backward();
    at::Tensor mine = values_of(exchange.local(), 1).requires_grad_();
    const at::Tensor loss = steps(exchange, mine);
    loss.backward();
    const at::Tensor total = loss.detach().clone().view({1});
    group.all_reduce_sum(total, Purpose::control);
    EXPECT_NEAR(total.item<double>() / dense_loss.item<double>(), 1, 1e-12);
    EXPECT_TRUE(exchange.gather(mine.grad()).allclose(all.grad(), 1e-11, 1e-11));
  });
}

TEST(RunningExchange, BringsHomeRowsThatNeverMovedWithoutWaiting) {
  const auto group = tests::world();
  const Sequences sequences{{3, 4}, {9, 7}};
  const auto exchange = make_exchange(sequences, *group);
  const auto running = exchange->running(0);
  const at::Tensor values = values_of(exchange->local(), 1);
  std::vector<at::Tensor> halted;
  const auto part = [&](const at::Tensor& goes_on) {
    const at::Tensor rows = values_of(running->step()->local().rows, 1);
    running->start_compaction(goes_on);
    halted.push_back(rows.index_select(0, running->finish_compaction().stopped));
  };
  part(exchange->local().position.remainder(2).eq(1));
  part(at::zeros({running->step()->local().rows.count()}, at::kBool));
  const auto waited = [&] { return group->waited_seconds().at(static_cast<std::size_t>(Purpose::exchange)); };
  const double before = waited();
  EXPECT_TRUE(running->home(at::cat(halted)).equal(values));
  EXPECT_EQ(waited(), before);
}

TEST(Heads, MustBeAtLeastAsManyAsTheRanksThatShareThem) {
  const auto group = tests::world();
  EXPECT_EQ(my_heads(group->size(), *group).begin, group->rank());
  EXPECT_THROW(my_heads(group->size() - 1, *group), base::BadInput);
}

}  // namespace
}  // namespace ut::dist
