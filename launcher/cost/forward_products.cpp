#include "launcher/cost/forward_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/kernels/host_attention.h"
#include "launcher/process/readable.h"

namespace ut::launcher {
namespace {

constexpr double passes_of_update = 3;  // for each product of a forward pass the backward pass has two of the same size

void add_attention(std::vector<Product>& products, const core::ModelOptions& model, const StackWork& work,
                   std::int64_t keys, std::int64_t count) {
  const std::int64_t sequences = std::min(work.sequences, work.rows);
  const std::int64_t matrices = sequences * model.heads;
  const std::int64_t queries = rounded_quotient(work.rows, sequences);
  const std::int64_t columns = model.d_model / model.heads;
  products.push_back({matrices, queries, columns, keys, count});  // logits
  products.push_back({matrices, queries, keys, columns, count});  // weighted values
}

/// Adds the products of all steps of a stack. `keys`: that a row attends to. `memory`: what a decoder attends to; null
/// if there is none.
void add_stack(std::vector<Product>& products, const core::ModelOptions& model, const StackWork& work,
               std::int64_t keys, const StackWork* memory) {
  const std::int64_t d = model.d_model;
  const std::int64_t count = work.steps * model.block_layers;
  if (work.projected > 0) {
    products.push_back({1, work.rows, d, d, count});           // queries
    products.push_back({1, work.projected, d, 2 * d, count});  // keys, values
  } else {
    products.push_back({1, work.rows, d, 3 * d, count});  // queries, keys, values
    products.push_back({1, work.copied, d, 2 * d, model.block_layers});
  }
  add_attention(products, model, work, keys, count);
  products.push_back({1, work.rows, d, d, count});  // output
  if (memory != nullptr) {
    products.push_back({1, memory->rows, d, 2 * d, model.block_layers});
    products.push_back({1, work.rows, d, d, 2 * count});  // queries and output
    add_attention(products, model, work, memory->length, count);
  }
  products.push_back({1, work.rows, d, model.ffn, count});
  products.push_back({1, work.rows, model.ffn, d, count});
}

/// Adds the products of an LSTM's layers over all rows. `memory`: what a decoder attends to; null if there is none.
void add_lstm(std::vector<Product>& products, const core::ModelOptions& model, const StackWork& work, std::int64_t,
              const StackWork* memory) {
  const std::int64_t d = model.d_model;
  products.push_back({1, work.rows, d, 4 * d, 2 * model.lstm_layers});  // of the input, and of the previous state
  if (memory == nullptr) return;
  core::ModelOptions one_head = model;
  one_head.heads = 1;
  products.push_back({1, work.rows, d, d, 1});      // queries
  products.push_back({1, work.rows, 2 * d, d, 1});  // output
  add_attention(products, one_head, work, memory->length, 1);
}

StackWork work_on(std::int64_t steps, std::int64_t rows, std::int64_t sequences) {
  return {steps, rows, 0, sequences, rounded_quotient(rows, sequences)};
}

}  // namespace

std::int64_t rounded_quotient(std::int64_t dividend, std::int64_t divisor) {
  return divisor == 0 ? 0 : std::llround(static_cast<double>(dividend) / static_cast<double>(divisor));
}

std::vector<Product> forward_products(const core::ModelOptions& model, const UpdateWork& work, Hidden hidden) {
  std::vector<Product> products;
  const auto add = model.kind == core::ModelKind::lstm ? add_lstm : add_stack;
  std::optional<StackWork> memory = work.encoder;
  if (memory) memory->rows = work.memory_rows;
  if (work.encoder) add(products, model, *work.encoder, work.encoder->length, nullptr);
  if (work.decoder) {
    const std::int64_t length = work.decoder->length;
    const std::int64_t seen = std::min(length, (length + core::queries_at_once) / 2);
    add(products, model, *work.decoder, hidden == Hidden::counted ? length : seen, memory ? &*memory : nullptr);
  }
  if (!model.points) products.push_back({1, work.labels, model.d_model, model.vocabulary, 1});  // symbols' scores
  std::erase_if(products, [](const Product& product) { return product.matrices * product.rows * product.count == 0; });
  return products;
}

double flops_of_update(const std::vector<Product>& forward) {
  double products = 0;
  for (const auto& [matrices, rows, inner, columns, count] : forward)
    products +=
        static_cast<double>(matrices * count) * static_cast<double>(rows * inner) * static_cast<double>(columns);
  return passes_of_update * 2 * products;
}

FlopsRange flops_of_update(const core::ModelOptions& model, const datasets::Batch& batch) {
  const auto flops = [&](std::int64_t encoder_steps, std::int64_t decoder_steps) {
    const std::int64_t sequences = std::ssize(batch.examples);
    UpdateWork work;
    work.labels = batch.labels();
    work.memory_rows = batch.source_rows();
    if (model.has_encoder()) work.encoder = work_on(encoder_steps, batch.source_rows(), sequences);
    if (model.has_decoder()) work.decoder = work_on(decoder_steps, batch.target_rows(), sequences);
    return flops_of_update(forward_products(model, work, Hidden::counted));
  };
  const double one_each = flops(1, 1);
  const auto fewest = [](core::Halting halting, std::int64_t steps) {
    return halting == core::Halting::none ? steps : 1;
  };
  return {flops(fewest(model.halting.encoder, model.encoder_steps), fewest(model.halting.decoder, model.decoder_steps)),
          flops(model.encoder_steps, model.decoder_steps), flops(2, 1) - one_each, flops(1, 2) - one_each};
}

std::string describe(const FlopsRange& flops) {
  const std::string most = readable(flops.most, "FLOP");
  return flops.least == flops.most ? most : fmt::format("{} to {}", readable(flops.least, "FLOP"), most);
}

}  // namespace ut::launcher
