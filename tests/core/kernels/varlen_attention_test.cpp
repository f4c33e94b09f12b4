// Which attention is chosen for a device, and what the library's kernels are given. These kernels need a CUDA device;
// here plain code that follows the definition stands in for them.

#include "core/kernels/varlen_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <cmath>

#include "core/slotted_attention.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

using MaybeTensor = std::optional<at::Tensor>;
using MaybeNumber = std::optional<std::int64_t>;

/// Over rows [rows, heads, c] of sequences that begin at the offsets. The causal mask is aligned to the top left.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& query_offsets,
                     const at::Tensor& key_offsets, bool causal) {
  EXPECT_EQ(k.size(0), key_offsets[-1].item<std::int32_t>()) << "kernels leave other rows' gradients unset";
  std::vector<at::Tensor> outputs;
  const auto part = [](const at::Tensor& rows, const at::Tensor& offsets, std::int64_t index) {
    const auto* offset = offsets.const_data_ptr<std::int32_t>() + index;
    return rows.narrow(0, offset[0], offset[1] - offset[0]).transpose(0, 1);  // [heads, rows, c]
  };
  for (std::int64_t index = 0; index + 1 < query_offsets.size(0); ++index) {
    at::Tensor logits = at::matmul(part(q, query_offsets, index), part(k, key_offsets, index).transpose(1, 2)) /
                        std::sqrt(static_cast<double>(q.size(2)));
    if (causal) logits = logits.masked_fill(at::ones_like(logits, at::kBool).triu(1), -INFINITY);
    outputs.push_back(at::matmul(at::softmax(logits, -1), part(v, key_offsets, index)).transpose(0, 1));
  }
  return at::cat(outputs);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> flash(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const MaybeTensor& query_offsets,
    const MaybeTensor& key_offsets, std::int64_t, std::int64_t, double, bool causal, bool, std::optional<double>,
    MaybeNumber, MaybeNumber, const MaybeTensor&, const MaybeTensor&) {
  return {attention(q, k, v, *query_offsets, *key_offsets, causal), {}, {}, {}, {}};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt> memory_efficient(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const MaybeTensor&, const MaybeTensor& query_offsets,
    const MaybeTensor& key_offsets, MaybeNumber most_queries, MaybeNumber most_keys, double, std::int64_t mask, bool,
    std::optional<double>, const MaybeTensor&, MaybeNumber) {
  const at::Tensor output =
      attention(q.squeeze(0), k.squeeze(0), v.squeeze(0), *query_offsets, *key_offsets, mask == 1).unsqueeze(0);
  return {output, {}, {}, {}, *most_queries, *most_keys};
}

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("_flash_attention_forward", &flash);
  library.impl("_efficient_attention_forward", &memory_efficient);
}

const at::Device gpu(at::kCUDA, 0);

TEST(VarlenKernel, IsChosenByDeviceTypeAndDropout) {
  EXPECT_EQ(varlen_kernel(gpu, at::kBFloat16, 64, false), VarlenKernel::flash);
  EXPECT_EQ(varlen_kernel(gpu, at::kBFloat16, 192, false), VarlenKernel::flash);
  EXPECT_EQ(varlen_kernel(gpu, at::kFloat, 64, false), VarlenKernel::memory_efficient);
  EXPECT_EQ(varlen_kernel(gpu, at::kFloat, 4, false), VarlenKernel::memory_efficient);
  EXPECT_EQ(varlen_kernel(gpu, at::kBFloat16, 200, false), VarlenKernel::memory_efficient) << "too wide for flash";
  EXPECT_EQ(varlen_kernel(gpu, at::kBFloat16, 4, false), VarlenKernel::none) << "heads are not aligned";
  EXPECT_EQ(varlen_kernel(gpu, at::kFloat, 6, false), VarlenKernel::none) << "heads are not aligned";
  EXPECT_EQ(varlen_kernel(gpu, at::kDouble, 64, false), VarlenKernel::none) << "not in float64";
  EXPECT_EQ(varlen_kernel(gpu, at::kBFloat16, 64, true), VarlenKernel::none) << "dropout of ours";
  EXPECT_EQ(varlen_kernel(at::kCPU, at::kBFloat16, 64, false), VarlenKernel::none);
  EXPECT_EQ(varlen_kernel({at::kPrivateUse1, 0}, at::kFloat, 64, false), VarlenKernel::none);
}

TEST(FitsVarlen, NeedsRowsOfEverySequenceAndAMaskOfTheKernel) {
  const dist::Sequences sequences{{4, 9}, {5, 2}};
  const dist::Rows all = dist::rows_of(sequences, 0, 1);
  const dist::Rows some = dist::rows_of(sequences, 0, 2);
  const dist::Rows later = dist::rows_of(sequences, 1, 2);
  EXPECT_TRUE(fits_varlen(all, all, false));
  EXPECT_TRUE(fits_varlen(all, all, true));
  EXPECT_TRUE(fits_varlen(some, all, false));
  EXPECT_FALSE(fits_varlen(some, all, true)) << "some of the keys' rows";
  EXPECT_FALSE(fits_varlen(later, some, true)) << "other rows";
  const dist::Rows with_gap = dist::rows_of({{4, 8}, {5, 1}}, 0, 2);  // no row of the second sequence
  EXPECT_FALSE(fits_varlen(with_gap, all, false)) << "a sequence without queries";
  EXPECT_FALSE(fits_varlen(all, with_gap, false)) << "a sequence without keys";
  const dist::Rows none = dist::rows_of({}, 0, 1);
  EXPECT_FALSE(fits_varlen(none, none, false)) << "no sequence";
}

struct VarlenSetting {
  VarlenKernel kernel;
  bool causal;
  bool elsewhere;  // the keys lie in another order, among other rows
};

std::ostream& operator<<(std::ostream& stream, const VarlenSetting& setting) {
  return stream << (setting.kernel == VarlenKernel::flash ? "flash" : "efficient") << (setting.causal ? "_causal" : "")
                << (setting.elsewhere ? "_elsewhere" : "");
}

class VarlenAttentionTest : public testing::TestWithParam<VarlenSetting> {};

TEST_P(VarlenAttentionTest, EqualsTheComposedTensorOperations) {
  const auto& [kernel, causal, elsewhere] = GetParam();
  constexpr std::int64_t heads = 3;
  constexpr std::int64_t d = 24;
  const dist::Sequences sequences{{4, 9, 11}, {5, 17, 2}};
  const dist::Rows keys = dist::rows_of(sequences, 0, 1);
  const dist::Rows queries = causal ? keys : dist::rows_of(sequences, 1, 2);
  std::vector<std::int64_t> key_rows;
  for (std::int64_t key = 0; key < keys.count(); ++key)
    key_rows.push_back(elsewhere ? 3 * (keys.count() - 1 - key) + 1 : key);
  const std::int64_t kept_rows = 3 * keys.count();  // most hold no key
  const at::Tensor query = 3 * random_tensor({queries.count(), d}, 1).to(at::kFloat);
  const at::Tensor keys_values = random_tensor({kept_rows, 2 * d}, 2).to(at::kFloat);
  const VarlenAttention attention(queries, keys, causal, at::kCPU, key_rows);
  const SlottedAttention reference(queries, keys, causal, at::kCPU, key_rows);
  const at::Tensor result = attention.attend(query, keys_values, heads, kernel);
  EXPECT_TRUE(result.allclose(reference.attend(query, keys_values, {heads, 0, {}}), 1e-5, 1e-5));
}

INSTANTIATE_TEST_SUITE_P(Settings, VarlenAttentionTest,
                         testing::Values(VarlenSetting{VarlenKernel::flash, false, false},
                                         VarlenSetting{VarlenKernel::flash, true, true},
                                         VarlenSetting{VarlenKernel::memory_efficient, true, false},
                                         VarlenSetting{VarlenKernel::memory_efficient, false, true}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
