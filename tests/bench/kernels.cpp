// `kernels_bench`: each kernel of core/ beside LibTorch's own operations for the same work, on one thread. Our kernels
// include what makes results the same on every mesh; the library draws from a generator.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <functional>
#include <vector>

#include "core/attention_layout.h"
#include "core/halting.h"
#include "core/kernels/add_dropped.h"
#include "core/kernels/depthwise.h"
#include "core/kernels/dropout.h"
#include "core/kernels/relu_dropout.h"
#include "core/kernels/tile_product.h"
#include "core/loss.h"
#include "core/normalisation.h"
#include "core/products.h"
#include "core/whole_rows.h"
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

/// Times `work`, which handles so many rows.
void repeat(benchmark::State& state, std::int64_t rows, const std::function<void()>& work) {
  at::set_num_threads(1);
  for (auto _ : state) work();
  state.SetItemsProcessed(state.iterations() * rows);
}

/// Times `make` and its backward pass.
void forward_and_backward(benchmark::State& state, const std::function<at::Tensor()>& make) {
  const at::Tensor gradient = at::randn(make().sizes());
  repeat(state, gradient.size(0), [&] { make().backward(gradient); });
}

at::Tensor leaf(std::initializer_list<std::int64_t> sizes) { return at::randn(sizes).requires_grad_(); }

void dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  const at::Tensor x = leaf({rows.count(), d_model});
  forward_and_backward(state, [&] { return dropout(x, rate, dropout_key(), rows); });
}
void dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  forward_and_backward(state, [&] { return at::dropout(x, rate, true); });
}

void relu_dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  const at::Tensor x = leaf({rows.count(), 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  forward_and_backward(state, [&] { return relu_dropout(x * 1, bias, rate, dropout_key(), rows); });
}
void relu_dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  forward_and_backward(state, [&] { return at::dropout(at::relu(x * 1 + bias), rate, true); });
}

void residual_dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  const at::Tensor x = leaf({rows.count(), d_model});
  const at::Tensor y = leaf({rows.count(), d_model});
  forward_and_backward(state, [&] { return add_dropped(x, y, rate, dropout_key(), rows); });
}
void residual_dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor y = leaf({1280, d_model});
  forward_and_backward(state, [&] { return x + at::dropout(y, rate, true); });
}

void normalised_residual_dropout_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(32, 40);
  Parameters parameters(Precision::float32, 1);
  const LayerNorm norm(parameters, "norm", d_model);
  const at::Tensor x = leaf({rows.count(), d_model});
  const at::Tensor y = leaf({rows.count(), d_model});
  forward_and_backward(state, [&] { return norm.of_sum(x, y, rate, dropout_key(), rows); });
}
void normalised_residual_dropout_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor y = leaf({1280, d_model});
  const at::Tensor scale = leaf({d_model});
  const at::Tensor bias = leaf({d_model});
  forward_and_backward(state, [&] { return at::layer_norm(x + at::dropout(y, rate, true), {d_model}, scale, bias); });
}

constexpr std::int64_t filter_width = 5;

void depthwise_ours(benchmark::State& state) {
  const auto group = dist::make_single_communicator();
  const auto exchange = dist::make_exchange(sequences_of_length(32, 40), *group);
  const at::Tensor x = leaf({1280, 4 * d_model});
  const at::Tensor kernel = leaf({filter_width, 4 * d_model});
  forward_and_backward(state,
                       [&] { return depthwise(exchange->neighbours(x, filter_width / 2, filter_width / 2), kernel); });
}
void depthwise_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, 4 * d_model});
  const at::Tensor kernel = leaf({4 * d_model, 1, filter_width});
  forward_and_backward(state, [&] {
    return at::conv1d(x.view({32, 40, 4 * d_model}).transpose(1, 2), kernel, {}, 1, filter_width / 2, 1, 4 * d_model)
        .transpose(1, 2)
        .reshape({1280, 4 * d_model});
  });
}

/// Ours adds the weight's gradient in place; the library makes a tensor of it first, and adds that.
void product_ours(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor w = leaf({d_model, 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  forward_and_backward(state, [&] { return multiply_add(bias, x, w, at::kFloat); });
}
void product_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor w = leaf({d_model, 4 * d_model});
  const at::Tensor bias = leaf({4 * d_model});
  forward_and_backward(state, [&] { return at::addmm(bias, x, w); });
}

/// Products without a graph, each with its own factors. Arguments: the number of products, the rows and columns of
/// each, its inner size, whether the second factor is stored transposed.
struct ManyProducts {
  explicit ManyProducts(const benchmark::State& state)
      : count(state.range(0)),
        rows(state.range(1)),
        columns(state.range(2)),
        inner(state.range(3)),
        is_transposed(state.range(4) != 0),
        a(at::randn({count, rows, inner})),
        b(is_transposed ? at::randn({count, columns, inner}) : at::randn({count, inner, columns})),
        made(at::empty({count, rows, columns})) {}

  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t inner;
  bool is_transposed;
  at::Tensor a;     // [count, rows, inner]
  at::Tensor b;     // [count, inner, columns] or [count, columns, inner]
  at::Tensor made;  // [count, rows, columns]
};

MatrixRows<float> matrix(const at::Tensor& matrices, std::int64_t number) {
  return {matrices.mutable_data_ptr<float>() + number * matrices.stride(0), matrices.stride(1)};
}

void tile_product_ours(benchmark::State& state) {
  const ManyProducts products(state);
  repeat(state, products.count * products.rows, [&] {
    for (std::int64_t number = 0; number < products.count; ++number) {
      const MatrixRows<float> b = matrix(products.b, number);
      multiply_in_tiles(products.rows, products.columns, products.inner, 1, as_stored(matrix(products.a, number)),
                        products.is_transposed ? transposed(b) : as_stored(b), 0, matrix(products.made, number));
    }
  });
}
void tile_product_library(benchmark::State& state) {
  ManyProducts products(state);
  const at::Tensor b = products.is_transposed ? products.b.transpose(1, 2) : products.b;
  repeat(state, products.count * products.rows, [&] { at::bmm_out(products.made, products.a, b); });
}

/// The sizes of attention: queries by keys, weights by values.
void products_of_attention(benchmark::internal::Benchmark* product) {
  product->ArgNames({"products", "rows", "columns", "inner", "transposed"});
  constexpr std::int64_t columns = d_model / heads;
  for (const std::int64_t count : {std::int64_t{1}, 32 * heads}) {
    product->Args({count, 40, 40, columns, 1});
    product->Args({count, 40, columns, 40, 0});
  }
  product->Args({64 * heads, 1, 40, columns, 1});  // in decoding
  product->Args({64 * heads, 1, columns, 40, 0});
}

constexpr double label_smoothing = 0.1;
constexpr std::int64_t no_label = -100;  // the library's ignore_index

at::Tensor labels(std::int64_t rows, std::int64_t vocabulary) { return at::randint(vocabulary, {rows}, at::kLong); }

/// Argument: symbols of the vocabulary.
void loss_ours(benchmark::State& state) {
  const at::Tensor logits = leaf({1280, state.range(0)});  // [rows, vocabulary]
  const at::Tensor label = labels(1280, state.range(0));
  repeat(state, 1280, [&] { summed_cross_entropy(logits.clone(), label, label_smoothing).backward(); });
}
/// The library spreads the smoothing over all symbols, the label included, and does not subtract the constant entropy.
void loss_library(benchmark::State& state) {
  const at::Tensor logits = leaf({1280, state.range(0)});  // [rows, vocabulary]
  const at::Tensor label = labels(1280, state.range(0));
  const auto vocabulary = static_cast<double>(state.range(0));
  const double smoothing = label_smoothing * vocabulary / (vocabulary - 1);
  repeat(state, 1280,
         [&] { at::cross_entropy_loss(logits, label, {}, at::Reduction::Sum, no_label, smoothing).backward(); });
}

/// Arguments: sequences, their length, whether causal, percent of weights that are dropped.
void attention_ours(benchmark::State& state) {
  const dist::Rows rows = rows_of_length(state.range(0), state.range(1));
  const AttentionLayout layout(rows, rows, state.range(2) != 0, at::kCPU);
  const at::Tensor query = leaf({rows.count(), d_model});
  const at::Tensor keys_values = leaf({rows.count(), 2 * d_model});
  const AttentionSite site{heads, static_cast<double>(state.range(3)) / 100, dropout_key()};
  forward_and_backward(state, [&] { return layout.attend(query, keys_values, site); });
}
void attention_library(benchmark::State& state) {
  const std::int64_t sequences = state.range(0);
  const std::int64_t length = state.range(1);
  const at::Tensor query = leaf({sequences * length, d_model});
  const at::Tensor keys_values = leaf({sequences * length, 2 * d_model});
  const auto by_head = [&](const at::Tensor& x) {
    return x.reshape({sequences, length, heads, d_model / heads}).transpose(1, 2);
  };
  forward_and_backward(state, [&] {
    const auto parts = keys_values.chunk(2, 1);
    return at::scaled_dot_product_attention(by_head(query), by_head(parts[0]), by_head(parts[1]), {},
                                            static_cast<double>(state.range(3)) / 100, state.range(2) != 0)
        .transpose(1, 2)
        .reshape({sequences * length, d_model});
  });
}

/// One query per sequence, over the keys and values that decoding has cached. Arguments: sequences, positions of each.
void decoding_attention_ours(benchmark::State& state) {
  const std::int64_t sequences = state.range(0);
  const std::int64_t positions = state.range(1);
  std::vector<std::int64_t> places;  // of each sequence's keys in the cache
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence)
    for (std::int64_t position = 0; position < positions; ++position) places.push_back(position * sequences + sequence);
  const AttentionLayout layout(rows_of_length(sequences, 1), rows_of_length(sequences, positions), false, at::kCPU,
                               places);
  const at::Tensor query = at::randn({sequences, d_model});
  const at::Tensor keys_values = at::randn({positions * sequences, 2 * d_model});
  repeat(state, sequences, [&] { layout.attend(query, keys_values, {heads, 0, {}}); });
}
void decoding_attention_library(benchmark::State& state) {
  const std::int64_t sequences = state.range(0);
  const at::Tensor query = at::randn({sequences, d_model});
  const at::Tensor keys_values = at::randn({state.range(1), sequences, 2 * d_model});  // as the cache has them
  const auto by_head = [&](const at::Tensor& x) {  // [positions, sequences, d_model]
    return x.view({x.size(0), sequences, heads, d_model / heads}).permute({1, 2, 0, 3});
  };
  repeat(state, sequences, [&] {
    const auto parts = keys_values.chunk(2, 2);
    at::scaled_dot_product_attention(by_head(query.unsqueeze(0)), by_head(parts[0]), by_head(parts[1]))
        .reshape({sequences, d_model});
  });
}

constexpr std::int64_t halting_steps = 6;

/// All that halting adds to these steps: probabilities, book-keeping in float64, the mean of the states.
void halting_ours(benchmark::State& state) {
  const auto group = dist::make_single_communicator();
  const auto exchange = dist::make_exchange(sequences_of_length(32, 40), *group);
  const auto rows = make_whole_rows(*exchange, false, nullptr, {at::kFloat, d_model / heads});
  ModelOptions options;
  options.d_model = d_model;
  Parameters parameters(Precision::float32, 1);
  const HaltingUnit unit(parameters, "halting", options);
  const at::Tensor x = leaf({1280, d_model});
  forward_and_backward(state, [&] {
    HaltingState ponder(x, options.halting);
    for (std::int64_t step = 1; step <= halting_steps; ++step) {
      ponder.decide(unit.probability(x, step, *rows->step(), {}), false);
      ponder.add_to_mean(x);
    }
    return ponder.mean();
  });
}
/// As the papers' Appendix B lists it, all in float32.
void halting_library(benchmark::State& state) {
  const at::Tensor x = leaf({1280, d_model});
  const at::Tensor kernel = leaf({d_model, 1});
  const at::Tensor bias = leaf({1});
  const double threshold = HaltingOptions().threshold;
  forward_and_backward(state, [&] {
    at::Tensor halting = at::zeros({1280});  // [rows], as all below except the mean
    at::Tensor remainders = at::zeros({1280});
    at::Tensor updates = at::zeros({1280});
    at::Tensor mean = at::zeros({1280, d_model});  // [rows, d_model]
    for (std::int64_t step = 1; step <= halting_steps; ++step) {
      const at::Tensor probability = at::sigmoid(at::addmm(bias, x, kernel).squeeze(1));
      const at::Tensor ran = (halting < 1).to(at::kFloat);
      const at::Tensor after = halting + probability * ran;
      const at::Tensor halts = (after > threshold).to(at::kFloat) * ran;
      const at::Tensor runs = (after <= threshold).to(at::kFloat) * ran;
      halting = halting + probability * runs;
      remainders = remainders + halts * (1 - halting);
      halting = halting + halts * remainders;
      updates = updates + runs + halts;
      mean = mean + (probability * runs + halts * remainders).unsqueeze(1) * x;
    }
    return mean;
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
BENCHMARK(tile_product_ours)->Apply(products_of_attention);
BENCHMARK(tile_product_library)->Apply(products_of_attention);
BENCHMARK(loss_ours)->ArgName("vocabulary")->Arg(64)->Arg(8000);
BENCHMARK(loss_library)->ArgName("vocabulary")->Arg(64)->Arg(8000);
BENCHMARK(attention_ours)->Apply(sizes);
BENCHMARK(attention_library)->Apply(sizes);
BENCHMARK(decoding_attention_ours)->ArgNames({"sequences", "positions"})->Args({64, 40})->Args({1, 1024});
BENCHMARK(decoding_attention_library)->ArgNames({"sequences", "positions"})->Args({64, 40})->Args({1, 1024});
BENCHMARK(halting_ours);
BENCHMARK(halting_library);

}  // namespace
}  // namespace ut::core

BENCHMARK_MAIN();
