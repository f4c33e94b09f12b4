#include "core/kernels/dropout.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "base/philox.h"
#include "core/kernels/keep_columns.h"

namespace ut::core {
namespace {

using Identities = std::vector<std::pair<std::int64_t, std::int64_t>>;  // (sequence, position)

dist::Rows rows_named(const Identities& identities) {
  std::vector<std::int64_t> sequence;
  std::vector<std::int64_t> position;
  for (const auto& [of, at] : identities) {
    sequence.push_back(of);
    position.push_back(at);
  }
  return {at::tensor(sequence, at::kLong),
          at::tensor(position, at::kLong),
          {0, static_cast<std::int64_t>(identities.size())}};
}

DropoutKey some_key() {
  return DropoutKey::for_update(3, 41).with_stack(1).with_step(2).with_layer(1).with_site(Site::transition_hidden);
}

/// 1 where an element was kept.
at::Tensor kept(const DropoutKey& key, double rate, const dist::Rows& rows, std::int64_t columns) {
  return dropout(at::ones({rows.count(), columns}, at::kDouble), rate, key, rows).gt(0);
}

/// What dropout must give for one element that is 1, from the generator's definition.
double expected_scale(const DropoutKey& key, double rate, std::int64_t sequence, std::int64_t position,
                      std::uint32_t head, std::int64_t column) {
  const auto block = static_cast<std::uint32_t>(column / 64);
  const auto word = static_cast<std::size_t>(column % 32 / 8);
  const int shift = column % 64 < 32 ? 0 : 16;  // each word has two numbers
  const auto lane = static_cast<std::uint32_t>(column % 8);
  const auto words = base::philox({(head << 24) + block * 8 + lane, static_cast<std::uint32_t>(position),
                                   static_cast<std::uint32_t>(sequence), key.place},
                                  key.update);
  return (words.at(word) >> shift & 0xFFFF) < std::round(rate * 65536) ? 0.0 : 1 / (1 - rate);
}

std::shared_ptr<const QueryIdentities> queries(std::vector<std::int64_t> sequence, std::vector<std::int64_t> position,
                                               std::vector<std::int64_t> first_key) {
  return std::make_shared<const QueryIdentities>(
      QueryIdentities{std::move(sequence), std::move(position), std::move(first_key)});
}

TEST(Dropout, IsDrawnByPhiloxFromRowIdentityAndColumn) {
  const Identities identities{{0, 0}, {5, 1234}, {5, 1235}, {70000, 3}};
  const dist::Rows rows = rows_named(identities);
  for (const std::int64_t columns : {1, 7, 8, 31, 32, 33, 63, 64, 65, 200}) {
    const at::Tensor result = dropout(at::ones({rows.count(), columns}, at::kDouble), 0.3, some_key(), rows);
    for (std::size_t row = 0; row < identities.size(); ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        ASSERT_EQ(result[static_cast<std::int64_t>(row)][column].item<double>(),
                  expected_scale(some_key(), 0.3, identities[row].first, identities[row].second, 0, column))
            << "row " << row << ", column " << column << " of " << columns;
  }
}

TEST(Dropout, IsTheSameForSomeHeadsAndKeysAsInTheWhole) {
  const at::Tensor whole =
      dropout_attention(at::ones({2, 3, 1, 150}, at::kDouble), 0.4, some_key(), queries({4, 9}, {1, 6}, {0, 0}));
  for (const std::int64_t begin : {1, 31, 32, 37, 64, 75})
    for (const std::int64_t keys : {1, 2, 33, 70}) {
      const std::vector<std::int64_t> first{begin, begin + 5};
      const at::Tensor part = dropout_attention(at::ones({2, 2, 1, keys}, at::kDouble), 0.4,
                                                some_key().with_first_head(1), queries({4, 9}, {1, 6}, first));
      for (std::int64_t index = 0; index < 2; ++index)
        EXPECT_TRUE(
            part[index].equal(whole[index].narrow(0, 1, 2).narrow(2, first[static_cast<std::size_t>(index)], keys)))
            << "keys " << begin << " to " << begin + keys;
    }
}

TEST(Dropout, IsKeyedOnTheHeadTooForAttentionWeights) {
  const std::vector<std::int64_t> sequence{4, 4, 9, 9};  // two sequences of two query slots
  const std::vector<std::int64_t> position{0, 1, 6, 7};
  const at::Tensor result =
      dropout_attention(at::ones({2, 3, 2, 40}, at::kDouble), 0.4, some_key(), queries(sequence, position, {0, 0}));
  for (std::int64_t index = 0; index < 2; ++index)
    for (std::int64_t head = 0; head < 3; ++head)
      for (std::int64_t query = 0; query < 2; ++query)
        for (std::int64_t column = 0; column < 40; ++column) {
          const auto slot = static_cast<std::size_t>(index * 2 + query);
          ASSERT_EQ(
              result[index][head][query][column].item<double>(),
              expected_scale(some_key(), 0.4, sequence[slot], position[slot], static_cast<std::uint32_t>(head), column))
              << index << " " << head << " " << query << " " << column;
        }
}

TEST(Dropout, KeepsTheShareAsked) {
  Identities identities(1000);
  for (std::size_t row = 0; row < identities.size(); ++row)
    identities[row] = {static_cast<std::int64_t>(row / 50), static_cast<std::int64_t>(row % 50)};
  const dist::Rows rows = rows_named(identities);
  for (const double rate : {0.1, 0.5, 0.9}) {
    const at::Tensor share = kept(some_key(), rate, rows, 200).to(at::kDouble);
    const double deviation = std::sqrt(rate * (1 - rate));
    EXPECT_NEAR(share.mean().item<double>(), 1 - rate, 5 * deviation / std::sqrt(200000.0));
    // Columns and rows must vary as independent draws do, which a stuck lane or a repeated row would not.
    EXPECT_NEAR(share.mean(0).var().item<double>() / (deviation * deviation / 1000), 1, 0.5);
    EXPECT_NEAR(share.mean(1).var().item<double>() / (deviation * deviation / 200), 1, 0.25);
  }
}

TEST(Dropout, KeepsTheMeanInEitherPrecision) {
  const dist::Rows rows = rows_named({{0, 0}, {0, 1}});
  for (const auto type : {at::kFloat, at::kDouble}) {
    const at::Tensor result = dropout(at::full({2, 64}, 3, type), 0.25, some_key(), rows);
    EXPECT_EQ(result.scalar_type(), type);
    EXPECT_TRUE(result.eq(0).logical_or(result.eq(4)).all().item<bool>());
    EXPECT_TRUE(result.eq(0).any().item<bool>() && result.eq(4).any().item<bool>());
  }
}

/// Twice those elements of `from` that `row` keeps, 0 for the others; `from` begins at column `first`.
std::vector<float> decided_one_by_one(const DropoutDraw& row, std::size_t first, const std::vector<float>& from) {
  constexpr std::size_t columns_of_call = columns_of_block / lanes_of_block;
  std::vector<float> kept(from.size());
  for (std::uint32_t call = 0; call < (first + from.size() + columns_of_block) / columns_of_call; ++call)
    row.decide(call, [&](std::size_t column, bool is_kept) {
      if (column >= first && column < first + from.size())
        kept[column - first] = is_kept ? 2 * from[column - first] : 0;
    });
  return kept;
}

TEST(KeepColumns, GivesTheSameWithAllInstructions) {
  const DropoutDraw row{3, {7, 11, 13}, 0x123456789ABCDEF, 20000};
  std::vector<float> from(333);
  std::iota(from.begin(), from.end(), 1.0F);
  const std::vector<double> exact(from.begin(), from.end());
  for (const std::size_t first : std::vector<std::size_t>{0, 1, 63, 64, 100})
    for (const auto instructions : {Instructions::plain, Instructions::avx2, Instructions::avx512f}) {
      if (instructions > best_instructions()) continue;
      std::vector<float> kept(from.size());
      std::vector<double> kept_exactly(from.size());
      keep_columns(row, first, from, 2.0F, kept.data(), instructions);
      keep_columns(row, first, exact, 2.0, kept_exactly.data(), instructions);
      EXPECT_EQ(kept, decided_one_by_one(row, first, from)) << "from " << first;
      EXPECT_TRUE(std::ranges::equal(kept, kept_exactly)) << "from " << first;
      EXPECT_GT(std::ranges::count(kept, 0.0F), 0);
    }
}

TEST(Dropout, PassesTheGradientOfKeptElements) {
  const dist::Rows rows = rows_named({{0, 0}, {7, 3}});
  const at::Tensor x = at::arange(1, 201, at::kDouble).view({2, 100}).requires_grad_();
  const at::Tensor result = dropout(x, 0.25, some_key(), rows);
  (result * result).sum().backward();
  EXPECT_TRUE(x.grad().allclose(2 * result.detach() * result.detach().gt(0).to(at::kDouble) / 0.75));
}

TEST(Dropout, DependsOnARowsIdentityNotItsPlace) {
  const at::Tensor one = kept(some_key(), 0.5, rows_named({{3, 0}, {3, 1}, {8, 0}, {8, 5}}), 100);
  const at::Tensor other = kept(some_key(), 0.5, rows_named({{8, 5}, {3, 1}, {3, 0}, {8, 0}}), 100);
  EXPECT_TRUE(other.equal(one.index_select(0, at::tensor({3, 1, 0, 2}, at::kLong))));
}

TEST(Dropout, DependsOnEveryPartOfItsKey) {
  const auto start = [] { return DropoutKey::for_update(3, 41); };
  const auto key = [](const DropoutKey& from, std::uint32_t stack, std::int64_t step, std::size_t layer, Site site) {
    return from.with_stack(stack).with_step(step).with_layer(layer).with_site(site);
  };
  const dist::Rows rows = rows_named({{3, 7}});
  std::vector<at::Tensor> masks;
  for (const auto& one : {
           key(start(), 0, 1, 0, Site::transition_output),
           key(DropoutKey::for_update(4, 41), 0, 1, 0, Site::transition_output),
           key(DropoutKey::for_update(3, 42), 0, 1, 0, Site::transition_output),
           key(start(), 1, 1, 0, Site::transition_output),
           key(start(), 0, 2, 0, Site::transition_output),
           key(start(), 0, 1, 1, Site::transition_output),
           key(start(), 0, 1, 0, Site::transition_hidden),
       })
    masks.push_back(kept(one, 0.5, rows, 256));
  masks.push_back(kept(key(start(), 0, 1, 0, Site::transition_output), 0.5, rows_named({{3, 8}}), 256));
  masks.push_back(kept(key(start(), 0, 1, 0, Site::transition_output), 0.5, rows_named({{4, 7}}), 256));
  for (std::size_t one = 0; one < masks.size(); ++one)
    for (std::size_t other = one + 1; other < masks.size(); ++other) {
      const double agree = masks[one].eq(masks[other]).to(at::kDouble).mean().item<double>();
      EXPECT_NEAR(agree, 0.5, 0.16) << one << " and " << other;  // five standard deviations
    }
}

TEST(Dropout, DoesNothingOutsideTrainingOrAtRateZero) {
  const dist::Rows rows = rows_named({{3, 7}});
  const at::Tensor x = at::arange(64, at::kDouble).view({1, 64});
  EXPECT_TRUE(dropout(x, 0.5, {}, rows).equal(x));
  EXPECT_TRUE(dropout(x, 0.0, some_key(), rows).equal(x));
}

}  // namespace
}  // namespace ut::core
