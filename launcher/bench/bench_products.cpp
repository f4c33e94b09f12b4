#include "launcher/bench/bench_products.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/kernels/gemm.h"
#include "core/products.h"
#include "launcher/process/stopwatch.h"
#include "launcher/ranks/device.h"
#include "launcher/ranks/shared_values.h"

namespace ut::launcher {
namespace {

std::int64_t largest(const at::Tensor& values) {
  return !values.defined() || values.numel() == 0 ? 0 : values.max().item<std::int64_t>();
}

/// Whether each rank makes the keys and values of all rows, from the states that it is sent.
bool projects_rows_of_all(const dist::SequenceExchange& exchange) {
  const dist::Holdings& holdings = exchange.holdings();
  return holdings.group->size() > 1 && holdings.options.sent == dist::Sent::states &&
         holdings.options.form != dist::ExchangeForm::heads;
}

/// `updates` [local rows]: the steps that each row took; undefined if the model takes none.
StackWork work_of(const dist::SequenceExchange& exchange, core::Halting halting, const at::Tensor& updates,
                  dist::Communicator& group) {
  const dist::Rows& local = exchange.local();
  const std::int64_t steps = largest(numbers_of_ranks(at::full({1}, largest(updates), at::kLong), group));
  StackWork work{steps, local.count(), 0, local.sequences(),
                 rounded_quotient(exchange.all().count(), local.sequences())};
  if (halting == core::Halting::act_copy) {
    work.rows = rounded_quotient(updates.sum().item<std::int64_t>(), steps);
    work.copied = updates.lt(steps).sum().item<std::int64_t>();
  }
  if (projects_rows_of_all(exchange)) {
    const auto of_all = [&](std::int64_t mine) {
      return numbers_of_ranks(at::full({1}, mine, at::kLong), group).sum();
    };
    work.projected = of_all(work.rows).item<std::int64_t>() +
                     rounded_quotient(of_all(work.copied).item<std::int64_t>(), std::max<std::int64_t>(1, steps));
  }
  return work;
}

/// How many products to make between two waits. A device queues work: waiting for it takes longer than many a product.
std::int64_t between_waits(const at::TensorOptions& options) { return options.device().is_cpu() ? 1 : 20; }

/// Seconds that a call takes: the median of five measurements.
double seconds_of(const std::function<at::Tensor()>& multiply, const at::TensorOptions& options) {
  wait_for(multiply());
  const std::int64_t times = between_waits(options);
  std::array<double, 5> seconds{};
  for (double& each : seconds) {
    const Stopwatch stopwatch;
    at::Tensor last;
    for (std::int64_t time = 0; time < times; ++time) last = multiply();
    wait_for(last);
    each = stopwatch.seconds() / static_cast<double>(times);
  }
  std::ranges::nth_element(seconds, seconds.begin() + 2);
  return seconds[2];
}

/// The first of these matrices. Each of them, or its transpose, is stored by rows.
template <class Number>
core::Factor<Number> first_of(const at::Tensor& matrices) {
  const bool transposed = matrices.stride(2) != 1;
  const at::Tensor rows = transposed ? matrices.transpose(1, 2) : matrices;
  return {{rows.const_data_ptr<Number>(), std::max(rows.stride(1), rows.size(2))}, transposed};
}

/// [matrices, rows, inner] x [matrices, inner, columns] on the host, one after the other, as attention multiplies them.
/// With matrices so small, a tensor operation's own overhead would take most of the time.
template <class Number>
at::Tensor multiply_on_host(const at::Tensor& left, const at::Tensor& right) {
  at::Tensor result = at::empty({left.size(0), left.size(1), right.size(2)}, left.options());
  core::Factor<Number> a = first_of<Number>(left);
  core::Factor<Number> b = first_of<Number>(right);
  core::MatrixRows<Number> c{result.data_ptr<Number>(), result.size(2)};
  for (std::int64_t matrix = 0; matrix < left.size(0); ++matrix) {
    core::gemm(result.size(1), result.size(2), left.size(2), Number{1}, a, b, Number{0}, c);
    a.rows.data += left.stride(0);
    b.rows.data += right.stride(0);
    c.data += result.stride(0);
  }
  return result;
}

at::Tensor multiply_each(const at::Tensor& left, const at::Tensor& right) {
  if (left.device().is_cpu() && left.scalar_type() == at::kFloat) return multiply_on_host<float>(left, right);
  if (left.device().is_cpu() && left.scalar_type() == at::kDouble) return multiply_on_host<double>(left, right);
  return at::bmm(left, right);
}

/// Seconds of this product and of the two of its backward pass. If there is one matrix, `right` is a weight: its
/// gradient is added to where it is kept.
double seconds_both_ways(const Product& product, const at::TensorOptions& options) {
  const auto filled = [&](std::int64_t rows, std::int64_t columns) {
    return at::full({product.matrices, rows, columns}, 0.5, options);
  };
  const at::Tensor left = filled(product.rows, product.inner);
  const at::Tensor right = filled(product.inner, product.columns);
  const at::Tensor gradient = filled(product.rows, product.columns);
  at::Tensor kept = at::zeros({product.inner, product.columns}, options);
  const auto gradient_of_right = [&] {
    if (product.matrices > 1) return multiply_each(left.transpose(1, 2), gradient);
    core::add_product(kept, left[0].t(), gradient[0]);
    return kept;
  };
  return seconds_of([&] { return multiply_each(left, right); }, options) +
         seconds_of([&] { return multiply_each(gradient, right.transpose(1, 2)); }, options) +
         seconds_of(gradient_of_right, options);
}

}  // namespace

std::vector<Product> products_of_update(const core::ModelOptions& model, const UpdateMade& made,
                                        const dist::Mesh& mesh) {
  dist::Communicator& group = mesh.sequence();
  UpdateWork work;
  work.labels = made.rows.labels.size(0);
  if (made.rows.source) {
    work.encoder = work_of(*made.rows.source, model.halting.encoder, made.encoder_updates, group);
    const dist::SequenceExchange& source = *made.rows.source;
    work.memory_rows = (projects_rows_of_all(source) ? source.all() : source.local()).count();
  }
  if (made.rows.target) work.decoder = work_of(*made.rows.target, model.halting.decoder, made.decoder_updates, group);
  return forward_products(model, work, Hidden::left_out);
}

double time_of_products(const std::vector<Product>& forward, const at::TensorOptions& options) {
  const at::NoGradGuard no_graph;
  double seconds = 0;
  for (const Product& product : forward)
    seconds += static_cast<double>(product.count) * seconds_both_ways(product, options);
  return seconds;
}

}  // namespace ut::launcher
