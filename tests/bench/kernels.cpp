// Each kernel of core/ beside LibTorch's own operations for the same: `kernels_bench`, one thread. Ours come with what
// makes them give the same on every mesh; the library's draws from a generator.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <functional>

#include "core/add_dropped.h"
#include "core/attention.h"
#include "core/depthwise.h"
#include "core/dropout.h"
#include "core/normalisation.h"
#include "core/products.h"
#include "core/relu_dropout.h"
#include "dist/rows.h"
#include "dist/sequence_exchange.h"

namespace ut::core {
namespace {

constexpr double rate = 0.1;
constexpr std::int64_t d_model = 256;
constexpr std::int64_t heads = 4;

dist::Sequences sequences_of_length(std::int64_t sequences, std::int64_t length) {
  dist::Sequences all;
  for (std::int64_t id = 0; id < sequences; ++id) {
    all.ids.push_back(id);
    all.lengths.push_back(length);
  }
  return all;
}

dist::Rows rows_of_length(std::int64_t sequences, std::int64_t length) {
  return dist::rows_of(sequences_of_length(sequences, length), 0, 1);
}

DropoutKey dropout_key() { return DropoutKey::for_update(1, 2); }

/// `make` forward and backward, again and again.
void there_and_back(benchmark::State& state, const std::function<at::Tensor()>& make) {
  at::set_num_threads(1);
  const at::Tensor gradient = at::randn(make().sizes());
  for (auto _ : state) make().backward(gradient);
  state.SetItemsProcessed(state.iterations() * gradient.size(0));
}

at::Tensor leaf(std::initializer_list<std::int64_t> sizes) { return at::randn(sizes).requires_grad_(); }

void dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  const at::Tensor x = leaf({rows.count(), d_model});
  there_and_back(state, [&] { return dropout(x, rate, dropout_key(), rows); });
}
void dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  there_and_back(state, [&] { return at::dropout(x, rate, true); });
}

void relu_dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  const at::Tensor x = leaf({rows.count(), 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  there_and_back(state, [&] { return relu_dropout(x * 1, bias, rate, dropout_key(), rows); });
}
void relu_dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  there_and_back(state, [&] { return at::dropout(at::relu(x * 1 + bias), rate, true); });
}

void residual_dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  const at::Tensor x = leaf({rows.count(), d_model});
  const at::Tensor y = leaf({rows.count(), d_model});
  there_and_back(state, [&] { return add_dropped(x, y, rate, dropout_key(), rows); });
}
void residual_dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor y = leaf({1280, d_model});
  there_and_back(state, [&] { return x + at::dropout(y, rate, true); });
}

void normalised_residual_dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  Parameters parameters(Precision::float32, 1);
  const LayerNorm norm(parameters, "norm", d_model);
  const at::Tensor x = leaf({rows.count(), d_model});
  const at::Tensor y = leaf({rows.count(), d_model});
  there_and_back(state, [&] { return norm.of_sum(x, y, rate, dropout_key(), rows); });
}
void normalised_residual_dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor y = leaf({1280, d_model});
  const at::Tensor scale = leaf({d_model});
  const at::Tensor bias = leaf({d_model});
  there_and_back(state, [&] { return at::layer_norm(x + at::dropout(y, rate, true), {d_model}, scale, bias); });
}

constexpr std::int64_t filter_width = 5;

void depthwise_ours(benchmark::State& state) {
  const auto group = dist::make_single_communicator();
  const auto exchange = dist::make_exchange(sequences_of_length(32, 40), *group);
  const at::Tensor x = leaf({1280, 4 * d_model});
  const at::Tensor kernel = leaf({filter_width, 4 * d_model});
  there_and_back(state, [&] { return depthwise(exchange->neighbours(x, filter_width / 2, filter_width / 2), kernel); });
}
void depthwise_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, 4 * d_model});
  const at::Tensor kernel = leaf({4 * d_model, 1, filter_width});
  there_and_back(state, [&] {
    return at::conv1d(x.view({32, 40, 4 * d_model}).transpose(1, 2), kernel, {}, 1, filter_width / 2, 1, 4 * d_model)
        .transpose(1, 2)
        .reshape({1280, 4 * d_model});
  });
}

/// Ours adds the weight's gradient where it is kept; the library's comes as a tensor of its own, which is added then.
void product_ours(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor w = leaf({d_model, 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  there_and_back(state, [&] { return multiply_add(bias, x, w, at::kFloat); });
}
void product_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor w = leaf({d_model, 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  there_and_back(state, [&] { return at::addmm(bias, x, w); });
}

/// Arguments: sequences, their length, whether causal, percent of weights that are dropped.
void attention_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(state.range(0), state.range(1));
  const AttentionLayout layout(rows, rows, state.range(2) != 0, at::kCPU);
  const at::Tensor query = leaf({rows.count(), d_model});
  const at::Tensor keys_values = leaf({rows.count(), 2 * d_model});
  const AttentionSite site{heads, static_cast<double>(state.range(3)) / 100, dropout_key()};
  there_and_back(state, [&] { return layout.attend(query, keys_values, site); });
}
void attention_library(benchmark::State& state) {
  const std::int64_t sequences = state.range(0);
  const std::int64_t length = state.range(1);
  const at::Tensor query = leaf({sequences * length, d_model});
  const at::Tensor keys_values = leaf({sequences * length, 2 * d_model});
  const auto by_head = [&](const at::Tensor& x) {
    return x.reshape({sequences, length, heads, d_model / heads}).transpose(1, 2);
  };
  there_and_back(state, [&] {
    const auto parts = keys_values.chunk(2, 1);
    return at::scaled_dot_product_attention(by_head(query), by_head(parts[0]), by_head(parts[1]), {},
                                            static_cast<double>(state.range(3)) / 100, state.range(2) != 0)
        .transpose(1, 2)
        .reshape({sequences * length, d_model});
  });
}

void sizes(benchmark::internal::Benchmark* attention) {
  attention->ArgNames({"sequences", "length", "causal", "dropped"});
  for (const std::int64_t dropped : {0, 10})
    for (const std::int64_t causal : {0, 1}) {
      attention->Args({32, 40, causal, dropped});
      attention->Args({1, 1024, causal, dropped});
    }
}

BENCHMARK(dropout_ours);
BENCHMARK(dropout_library);
BENCHMARK(relu_dropout_ours);
BENCHMARK(relu_dropout_library);
BENCHMARK(residual_dropout_ours);
BENCHMARK(residual_dropout_library);
BENCHMARK(normalised_residual_dropout_ours);
BENCHMARK(normalised_residual_dropout_library);
BENCHMARK(depthwise_ours);
BENCHMARK(depthwise_library);
BENCHMARK(product_ours);
BENCHMARK(product_library);
BENCHMARK(attention_ours)->Apply(sizes);
BENCHMARK(attention_library)->Apply(sizes);

}  // namespace
}  // namespace ut::core

BENCHMARK_MAIN();
