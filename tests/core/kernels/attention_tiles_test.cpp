// The device code of attention, run on the host one block, one stage and one thread after the other. It must give what
// the host's attention over rows gives, except for the order of sums.

#include "core/kernels/attention_tiles.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "core/kernels/attention_blocks.h"
#include "core/kernels/row_attention.h"
#include "dist/accumulation_type.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

constexpr std::int64_t tile_heads = 2;

struct TileSetting {
  at::ScalarType type;
  bool causal;
  double rate;
  std::int64_t columns;  // of a head
  bool backwards;        // run a stage's threads in reverse: within a stage none may depend on another
};

std::ostream& operator<<(std::ostream& stream, const TileSetting& setting) {
  return stream << toString(setting.type) << (setting.causal ? "_causal" : "") << "_rate" << 100 * setting.rate
                << "_columns" << setting.columns << (setting.backwards ? "_backwards" : "");
}

class AttentionTilesTest : public testing::TestWithParam<TileSetting> {
 protected:
  /// Some keys, and their places among rows, of which every other one holds no key.
  struct Part {
    dist::Rows keys;
    std::vector<std::int64_t> place;
    at::Tensor keys_values;
    RowSpans on_host;
    TiledSpans tiled;
  };

  at::Tensor tensor(const std::vector<std::int64_t>& sizes, std::uint64_t seed) const {
    return random_tensor(sizes, seed).to(GetParam().type);
  }
  at::Tensor unwritten_like(const at::Tensor& like) const {
    return at::full(like.sizes(), unwritten, like.options().dtype(dist::accumulation_type(GetParam().type)));
  }

  /// The keys of `rank`, one of two.
  Part part_of(int rank) const {
    const dist::Rows keys = dist::rows_of(sequences_, rank, 2, dist::Cut::zigzag);
    std::vector<std::int64_t> place;
    for (std::int64_t key = 0; key < keys.count(); ++key) place.push_back(2 * key + 1);
    return {keys, place,
            tensor({2 * keys.count() + 1, 2 * tile_heads * GetParam().columns}, 2 + static_cast<std::uint64_t>(rank)),
            *row_spans(queries_, keys, GetParam().causal, place),
            TiledSpans(queries_, keys, GetParam().causal, at::kCPU, place)};
  }

  auto by_blocks() const {
    return [](const auto& blocks) {
      using Blocks = std::decay_t<decltype(blocks)>;
      const auto shared = std::make_unique<typename Blocks::Shared>();
      std::vector<typename Blocks::Registers> registers(threads_of_tile);
      for (std::int64_t block = 0; block < blocks.blocks(); ++block) {
        std::memset(static_cast<void*>(shared.get()), 0xff, sizeof *shared);
        std::memset(static_cast<void*>(registers.data()), 0xff, registers.size() * sizeof registers[0]);
        const std::int64_t last = blocks.stages(block) - 1;
        for (std::int64_t stage = 0; stage <= last; ++stage)
          for (int step = 0; step < threads_of_tile; ++step) {
            const int thread = GetParam().backwards ? threads_of_tile - 1 - step : step;
            blocks.run(block, stage, last, thread, registers[static_cast<std::size_t>(thread)], *shared);
          }
      }
    };
  }

  void expect_same(const at::Tensor& one, const at::Tensor& other) const {
    const double tolerance = (GetParam().type == at::kDouble ? 1e-12 : 2e-5) * other.abs().max().item<double>();
    const double rounding = one.scalar_type() == at::kBFloat16 ? 0x1p-7 : 0;
    EXPECT_TRUE(one.allclose(other, rounding, tolerance)) << (one - other).abs().max();
  }

  // Lengths above and below a tile's, and a sequence that lies on the first rank alone.
  dist::Sequences sequences_{{4, 9, 11, 30}, {5, 70, 1, 150}};
  dist::Rows queries_ = dist::rows_of(sequences_, 0, 2, dist::Cut::zigzag);
  AttentionSite site_{tile_heads, GetParam().rate, DropoutKey::for_update(3, 5).with_first_head(3)};
};

TEST_P(AttentionTilesTest, GiveWhatTheHostGives) {
  const std::int64_t d = tile_heads * GetParam().columns;
  const at::Tensor query = 3 * tensor({queries_.count(), d}, 1);
  const at::Tensor gradient = tensor({queries_.count(), d}, 9);
  const at::Tensor output = unwritten_like(query);
  const at::Tensor log_sum = unwritten_like(query.narrow(1, 0, tile_heads));
  const std::vector<Part> parts{part_of(1), part_of(0)};
  RowAttention expected(query, site_);
  bool has_earlier_keys = false;
  for (const Part& part : parts) {
    expected.attend_to(part.keys_values, part.on_host);
    AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, GetParam().type, "", [&] {
      attend_by_blocks<scalar_t>(query, part.keys_values, part.tiled, site_, has_earlier_keys, output, log_sum,
                                 by_blocks());
    });
    has_earlier_keys = true;
  }
  expect_same(output.to(GetParam().type), expected.output());

  at::Tensor of_query;
  const at::Tensor of_query_by_blocks = unwritten_like(query);
  bool has_gradient = false;
  for (const Part& part : parts) {
    at::Tensor of_part = dist::in_accumulation_type(tensor(part.keys_values.sizes().vec(), 7));
    const at::Tensor of_part_by_blocks = has_gradient ? of_part.clone() : unwritten_like(of_part);
    if (!has_gradient) of_part.zero_();
    expected.backward(gradient, part.keys_values, part.on_host, of_query, of_part);
    AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, GetParam().type, "", [&] {
      attend_backward_by_blocks<scalar_t>(query, part.keys_values, part.tiled, site_, output, log_sum, gradient,
                                          unwritten_like(log_sum), {of_query_by_blocks, has_gradient},
                                          {of_part_by_blocks, has_gradient}, by_blocks());
    });
    expect_same(of_query_by_blocks, of_query);
    const at::Tensor place = at::tensor(part.place);
    expect_same(of_part_by_blocks.index_select(0, place), of_part.index_select(0, place));
    const at::Tensor of_nobody = of_part_by_blocks.index_fill(0, place, 0);
    EXPECT_TRUE(has_gradient
                    ? of_nobody.equal(of_part.index_fill(0, place, 0))
                    : of_nobody.isnan().sum().item<std::int64_t>() == (part.keys.count() + 1) * of_nobody.size(1));
    has_gradient = true;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AttentionTilesTest,
    testing::Values(TileSetting{at::kDouble, false, 0, 12, false}, TileSetting{at::kDouble, true, 0.3, 12, false},
                    TileSetting{at::kDouble, true, 0.3, 33, true}, TileSetting{at::kFloat, true, 0.3, 100, false},
                    TileSetting{at::kFloat, false, 0.3, 32, true}, TileSetting{at::kBFloat16, true, 0.3, 64, false}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace ut::core
