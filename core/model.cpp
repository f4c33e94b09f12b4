#include "core/model.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/pointing.h"
#include "core/products.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// The table's rows with these numbers [n…] -> [n…, d]. On the host their gradients are added directly to the
/// table's buffer: a gradient of the size of the table would be zero except for a few rows.
at::Tensor rows_of_table(const at::Tensor& table, const at::Tensor& numbers) {
  if (!table.is_cpu() || !keeps_gradient(table)) return at::embedding(table, numbers);
  return dist::with_backward(at::embedding(table.detach(), numbers), {table},
                             [table, numbers](const at::Tensor& gradient) {
                               const at::Tensor of_rows = gradient.reshape({numbers.numel(), table.size(1)});
                               table.grad().index_add_(0, numbers.flatten(), of_rows);
                               return std::vector<at::Tensor>{{}};
                             });
}

}  // namespace

Model::Model(const ModelOptions& options, std::uint64_t seed, at::Device device)
    : options_(options),
      parameters_(options.precision, seed, device),
      table_(parameters_.add_normal("table", {options.vocabulary, options.d_model},
                                    1 / std::sqrt(static_cast<double>(options.d_model)))) {
  if (options.words_per_row > 1)
    // The authors' begins with ones: then it says nothing of the words' order, and what depends on it is hardly
    // learned.
    word_mask_ = parameters_.add_normal("word_mask", {options.words_per_row, options.d_model}, 1);
  if (options.points) pointer_ = parameters_.add_kernel("pointer", {options.d_model, 1}, options.d_model, 1);
}

at::Tensor Model::embed_source(const Batch& batch) const {
  const at::Tensor& words = batch.source_words;
  const double scale = std::sqrt(static_cast<double>(options_.d_model));
  const at::Tensor embedded = rows_of_table(table_, words.clamp_min(0));  // [rows, words, d]
  if (!word_mask_.defined()) return embedded.squeeze(1) * scale;
  const at::Tensor present = words.ge(0).unsqueeze(2).to(embedded.scalar_type());
  return (embedded * (word_mask_.narrow(0, 0, words.size(1)) * present)).sum(1) * scale;
}

at::Tensor Model::embed_target(const Batch& batch) const {
  const at::Tensor& previous = batch.target_previous;
  const at::Tensor scale = previous.ge(0).unsqueeze(1).to(table_.scalar_type()) *
                           std::sqrt(static_cast<double>(options_.d_model));  // a sequence's first row is a zero vector
  return rows_of_table(table_, previous.clamp_min(0)) * scale;
}

at::Tensor Model::logits(const at::Tensor& states) const {
  return multiply_by_transposed(states, table_, {product_type(options_), table_.scalar_type()});
}

at::Tensor Model::scores(const at::Tensor& states, const Batch& batch) const {
  if (!pointer_.defined()) return logits(batch.read_rows.defined() ? states.index_select(0, batch.read_rows) : states);
  const at::Tensor of_rows = multiply(states, pointer_, {product_type(options_), pointer_.scalar_type()});
  return candidate_scores(batch.source->gather(of_rows).squeeze(1), batch.candidates, batch.labels.size(0));
}

}  // namespace ut::core
