// Attention over rows, block by block, against the composition of the library's operations.

#include "core/kernels/row_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <vector>

#include "core/attention_layout.h"
#include "core/slotted_attention.h"
#include "tests/core/random_batch.h"
#include "tests/core/threads.h"

namespace ut::core {
namespace {

struct AttentionSetting {
  at::ScalarType type;
  bool causal;
  double rate;
  int ranks;        // the queries are those of the middle one
  int threads = 1;  // if more than sequences times heads, several share the queries of one
};

std::ostream& operator<<(std::ostream& stream, const AttentionSetting& setting) {
  return stream << toString(setting.type) << (setting.causal ? "_causal" : "") << "_rate" << 100 * setting.rate
                << "_ranks" << setting.ranks << "_threads" << setting.threads;
}

class AttentionOverRows : public testing::TestWithParam<AttentionSetting> {};

TEST_P(AttentionOverRows, EqualsTheComposedTensorOperations) {
  const auto& [type, causal, rate, ranks, threads] = GetParam();
  const Threads of_test(threads);
  constexpr std::int64_t heads = 3;
  constexpr std::int64_t d = 24;
  const dist::Sequences sequences{{4, 9, 11, 30}, {1, 70, 7, 200}};
  const dist::Rows queries = dist::rows_of(sequences, ranks / 2, ranks, dist::Cut::zigzag);
  const dist::Rows keys = dist::rows_of(sequences, 0, 1);
  const AttentionLayout layout(queries, keys, causal, at::kCPU);
  const SlottedAttention reference(queries, keys, causal, at::kCPU);
  const AttentionSite site{heads, rate, DropoutKey::for_update(3, 5).with_first_head(2)};
  const at::Tensor weight = random_tensor({queries.count(), d}, 9).to(type);
  std::vector<std::vector<at::Tensor>> results;
  for (const bool plainly : {true, false}) {
    const at::Tensor q = random_tensor({queries.count(), 2 * d}, 1).to(type).requires_grad_();
    const at::Tensor kv = random_tensor({keys.count(), 3 * d}, 2).to(type).requires_grad_();
    const at::Tensor query = 3 * q.narrow(1, d, d);         // so that the weights are far from equal
    const at::Tensor keys_values = kv.narrow(1, d, 2 * d);  // a part of wider rows, as a projection gives it
    const at::Tensor result =
        plainly ? reference.attend(query, keys_values, site) : layout.attend(query, keys_values, site);
    (result * weight).sum().backward();
    results.push_back({result.detach(), q.grad(), kv.grad()});
  }
  const double tolerance = type == at::kDouble ? 1e-11 : 2e-5;
  for (std::size_t part = 0; part < 3; ++part)
    EXPECT_LT((results[0][part] - results[1][part]).abs().max().item<double>(),
              tolerance * results[0][part].abs().max().item<double>())
        << "part " << part;
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AttentionOverRows,
    testing::Values(AttentionSetting{at::kFloat, false, 0, 1}, AttentionSetting{at::kFloat, true, 0.3, 1},
                    AttentionSetting{at::kDouble, false, 0.3, 1}, AttentionSetting{at::kDouble, true, 0.3, 3},
                    AttentionSetting{at::kDouble, true, 0, 1}, AttentionSetting{at::kDouble, false, 0.3, 1, 40},
                    AttentionSetting{at::kDouble, true, 0.3, 3, 40}),
    testing::PrintToStringParamName());

/// While this lives, uninitialised memory is filled with NaN.
class PoisonedMemory {
 public:
  PoisonedMemory() {
    at::globalContext().setDeterministicAlgorithms(true, true);
    at::globalContext().setDeterministicFillUninitializedMemory(true);
  }
  ~PoisonedMemory() { at::globalContext().setDeterministicAlgorithms(false, false); }
  PoisonedMemory(const PoisonedMemory&) = delete;
  PoisonedMemory& operator=(const PoisonedMemory&) = delete;
};

TEST(AttentionLayout, IsAccurateForVeryNegativeLogits) {
  const dist::Rows rows = dist::rows_of({{4}, {7}}, 0, 1);
  for (const auto& [type, far, tolerance] : {std::tuple{at::kFloat, 200.0, 1e-4}, {at::kDouble, 900.0, 1e-10}}) {
    at::Tensor query = random_tensor({7, 4}, 1);
    at::Tensor keys_values = random_tensor({7, 8}, 2);
    query.select(1, 0).fill_(-2 * far);  // the logits are divided by the root of four columns
    keys_values.select(1, 0).fill_(1);
    const AttentionSite site{1, 0, {}};
    const at::Tensor expected = SlottedAttention(rows, rows, false, at::kCPU).attend(query, keys_values, site);
    const at::Tensor made =
        AttentionLayout(rows, rows, false, at::kCPU).attend(query.to(type), keys_values.to(type), site);
    EXPECT_LT((made - expected).abs().max().item<double>(), tolerance);
  }
}

class AttentionInParts : public testing::TestWithParam<std::tuple<bool, int>> {};

/// The keys of three ranks, the last positions first: if causal, most queries see none of those. Every other row holds
/// no key.
TEST_P(AttentionInParts, EqualsAttentionToAllKeysAtOnce) {
  const auto& [causal, threads] = GetParam();
  const Threads of_test(threads);
  constexpr std::int64_t d = 6;
  const PoisonedMemory poisoned;
  const dist::Sequences sequences{{4, 9, 11, 30}, {1, 70, 7, 200}};
  const dist::Rows rows = dist::rows_of(sequences, 0, 1);
  const AttentionSite site{2, 0, DropoutKey::for_update(3, 5)};
  const at::Tensor query = random_tensor({rows.count(), d}, 1).requires_grad_();
  const at::Tensor keys_values = random_tensor({rows.count(), 2 * d}, 2).requires_grad_();
  const at::Tensor gradient = random_tensor({rows.count(), d}, 3);
  const at::Tensor expected = SlottedAttention(rows, rows, causal, at::kCPU).attend(query, keys_values, site);
  expected.backward(gradient);

  struct Part {
    at::Tensor place;        // [keys]: among this part's rows, of which every other one holds no key
    at::Tensor whole_place;  // [keys]: among all keys
    std::shared_ptr<const RowSpans> spans;
    at::Tensor keys_values;
  };
  std::vector<Part> parts;
  for (const int rank : {2, 1, 0}) {
    const dist::Rows keys = dist::rows_of(sequences, rank, 3);
    Part& part = parts.emplace_back();
    part.place = 2 * at::arange(keys.count()) + 1;
    std::vector<std::int64_t> first;
    for (const std::int64_t sequence : dist::sequence_numbers(keys))
      first.push_back(rows.offsets[static_cast<std::size_t>(sequence)]);
    part.whole_place = at::tensor(first) + keys.position;
    part.spans = row_spans(rows, keys, causal,
                           std::vector(part.place.const_data_ptr<std::int64_t>(),
                                       part.place.const_data_ptr<std::int64_t>() + keys.count()));
    part.keys_values = at::zeros({2 * keys.count() + 1, 2 * d}, gradient.options());
    part.keys_values.index_copy_(0, part.place, keys_values.detach().index_select(0, part.whole_place));
  }

  RowAttention attention(query.detach(), site);
  for (const Part& part : parts) attention.attend_to(part.keys_values, *part.spans);
  const auto expect_near = [](const at::Tensor& result, const at::Tensor& wanted) {
    EXPECT_LT((result - wanted).abs().max().item<double>(), 1e-12 * wanted.abs().max().item<double>());
  };
  expect_near(attention.output(), expected.detach());
  at::Tensor of_query;
  for (const Part& part : parts) {
    at::Tensor of_part;
    attention.backward(gradient, part.keys_values, *part.spans, of_query, of_part);
    expect_near(of_part.index_select(0, part.place), keys_values.grad().index_select(0, part.whole_place));
    EXPECT_EQ(of_part.index_fill(0, part.place, 0).abs().max().item<double>(), 0) << "rows of nobody";
  }
  expect_near(of_query, query.grad());
}

INSTANTIATE_TEST_SUITE_P(Masks, AttentionInParts, testing::Combine(testing::Bool(), testing::Values(1, 40)),
                         [](const auto& setting) {
                           return fmt::format("{}_threads{}", std::get<0>(setting.param) ? "causal" : "all",
                                              std::get<1>(setting.param));
                         });

}  // namespace
}  // namespace ut::core
