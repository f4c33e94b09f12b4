#include "launcher/bench_products.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>

#include "launcher/device.h"

namespace ut::launcher {
namespace {

/// What a stack did on this rank.
struct StackWork {
  std::int64_t steps;      // that were made
  std::int64_t rows;       // mean number that ran in a step
  std::int64_t copied;     // rows whose keys and values were made once more, after they halted
  std::int64_t sequences;  // that the rows are of
  std::int64_t length;     // of a sequence, over all ranks; mean
};

std::int64_t rounded(std::int64_t dividend, std::int64_t divisor) {
  return divisor == 0 ? 0 : std::llround(static_cast<double>(dividend) / static_cast<double>(divisor));
}

std::int64_t largest(const at::Tensor& values) { return values.numel() == 0 ? 0 : values.max().item<std::int64_t>(); }

/// `updates` [local rows]: the steps that each took.
StackWork work_of(const dist::SequenceExchange& exchange, core::Halting halting, const at::Tensor& updates,
                  dist::Communicator& group) {
  const dist::Rows& local = exchange.local();
  const std::vector<std::int64_t> one_each(static_cast<std::size_t>(group.size()), 1);
  const std::int64_t steps =
      largest(group.all_gather_rows(at::full({1}, largest(updates), at::kLong), one_each, dist::Purpose::control));
  StackWork work{steps, local.count(), 0, local.sequences(), rounded(exchange.all().count(), local.sequences())};
  if (halting == core::Halting::act_copy) {
    work.rows = rounded(updates.sum().item<std::int64_t>(), steps);
    work.copied = updates.lt(steps).sum().item<std::int64_t>();
  }
  return work;
}

void add_attention(std::vector<Product>& products, const core::ModelOptions& model, const StackWork& work,
                   std::int64_t keys, std::int64_t count) {
  const std::int64_t sequences = std::min(work.sequences, work.rows);
  const std::int64_t matrices = sequences * model.heads;
  const std::int64_t queries = rounded(work.rows, sequences);
  const std::int64_t columns = model.d_model / model.heads;
  products.push_back({matrices, queries, columns, keys, count});  // logits
  products.push_back({matrices, queries, keys, columns, count});  // weighted values
}

/// The products of all steps of a stack; `memory`: of a decoder, what it attends to.
void add_stack(std::vector<Product>& products, const core::ModelOptions& model, const StackWork& work,
               const StackWork* memory) {
  const std::int64_t d = model.d_model;
  const std::int64_t count = work.steps * model.block_layers;
  products.push_back({1, work.rows, d, 3 * d, count});  // queries, keys, values
  products.push_back({1, work.copied, d, 2 * d, model.block_layers});
  add_attention(products, model, work, work.length, count);
  products.push_back({1, work.rows, d, d, count});  // output
  if (memory != nullptr) {
    products.push_back({1, memory->rows, d, 2 * d, model.block_layers});
    products.push_back({1, work.rows, d, d, 2 * count});  // queries and output
    add_attention(products, model, work, memory->length, count);
  }
  products.push_back({1, work.rows, d, model.ffn, count});
  products.push_back({1, work.rows, model.ffn, d, count});
}

/// [matrices, rows, columns], or [rows, columns] of one.
at::Tensor filled(std::int64_t matrices, std::int64_t rows, std::int64_t columns, const at::TensorOptions& options) {
  return matrices == 1 ? at::full({rows, columns}, 0.5, options) : at::full({matrices, rows, columns}, 0.5, options);
}

/// How long one of them takes: the median of a few.
double seconds_of(const Product& product, const at::TensorOptions& options) {
  const at::Tensor left = filled(product.matrices, product.rows, product.inner, options);
  const at::Tensor right = filled(product.matrices, product.inner, product.columns, options);
  at::Tensor result = filled(product.matrices, product.rows, product.columns, options);
  const auto multiply = [&] {
    product.matrices == 1 ? at::mm_out(result, left, right) : at::bmm_out(result, left, right);
  };
  multiply();
  wait_for(result);
  std::array<double, 5> seconds{};
  for (double& each : seconds) {
    const auto begin = std::chrono::steady_clock::now();
    multiply();
    wait_for(result);
    each = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::ranges::nth_element(seconds, seconds.begin() + 2);
  return seconds[2];
}

}  // namespace

std::vector<Product> forward_products(const core::ModelOptions& model, const UpdateMade& made, const dist::Mesh& mesh) {
  dist::Communicator& group = mesh.sequence();
  std::vector<Product> products;
  std::optional<StackWork> memory;
  if (made.rows.source) {
    memory = work_of(*made.rows.source, model.halting.encoder, made.encoder_updates, group);
    add_stack(products, model, *memory, nullptr);
    memory->rows = made.rows.source->local().count();
  }
  if (made.rows.target) {
    const StackWork decoder = work_of(*made.rows.target, model.halting.decoder, made.decoder_updates, group);
    add_stack(products, model, decoder, memory ? &*memory : nullptr);
  }
  products.push_back({1, made.rows.labels.size(0), model.d_model, model.vocabulary, 1});  // symbols' scores
  std::erase_if(products, [](const Product& product) { return product.matrices * product.rows * product.count == 0; });
  return products;
}

double time_of_products(const std::vector<Product>& forward, const at::TensorOptions& options) {
  const at::NoGradGuard no_graph;
  constexpr double passes = 3;  // for each product of a forward pass the backward pass has two of the same size
  double seconds = 0;
  for (const Product& product : forward)
    seconds += passes * static_cast<double>(product.count) * seconds_of(product, options);
  return seconds;
}

}  // namespace ut::launcher
