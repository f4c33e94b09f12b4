// Attention over rows, block by block, against the composition of the library's operations.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/attention.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

struct AttentionSetting {
  at::ScalarType type;
  bool causal;
  double rate;
  int ranks;  // of which the middle one's queries are looked at
};

std::ostream& operator<<(std::ostream& stream, const AttentionSetting& setting) {
  return stream << toString(setting.type) << (setting.causal ? "_causal" : "") << "_rate" << 100 * setting.rate
                << "_ranks" << setting.ranks;
}

class RowAttention : public testing::TestWithParam<AttentionSetting> {};

TEST_P(RowAttention, GivesWhatTheCompositionGives) {
  const auto& [type, causal, rate, ranks] = GetParam();
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
    const at::Tensor query = 3 * q.narrow(1, d, d);         // sharp enough to say something
    const at::Tensor keys_values = kv.narrow(1, d, 2 * d);  // a part of wider rows, as a projection's is
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

INSTANTIATE_TEST_SUITE_P(Settings, RowAttention,
                         testing::Values(AttentionSetting{at::kFloat, false, 0, 1},
                                         AttentionSetting{at::kFloat, true, 0.3, 1},
                                         AttentionSetting{at::kDouble, false, 0.3, 1},
                                         AttentionSetting{at::kDouble, true, 0.3, 3},
                                         AttentionSetting{at::kDouble, true, 0, 1}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
