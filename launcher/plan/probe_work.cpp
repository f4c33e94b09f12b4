#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/kernels/dropout.h"
#include "core/products.h"
#include "dist/rows.h"
#include "dist/select_rows.h"
#include "launcher/plan/probe.h"
#include "launcher/process/stopwatch.h"

namespace ut::launcher {
namespace {

constexpr double too_long = 0.1;  // seconds: larger sizes would say the same again

/// Seconds of a call: the median of three means, each over a moment.
double seconds_of(const std::function<void()>& call) {
  constexpr double moment = 0.012;
  call();
  std::array<double, 3> means{};
  for (double& mean : means) {
    const Stopwatch watch;
    int calls = 0;
    for (; calls == 0 || watch.seconds() < moment; ++calls) call();
    mean = watch.seconds() / calls;
  }
  std::ranges::sort(means);
  return means[1];
}

/// `seconds` without the `part` of them that was measured elsewhere. That may be a little too much: a quarter stays at
/// least.
double without_part(double seconds, double part) { return std::max(seconds - part, seconds / 4); }

/// `seconds` without the time that reading `x` and writing as much takes.
double without_element_wise(double seconds, const at::Tensor& x, const MachineNumbers& numbers) {
  const auto bytes = static_cast<double>(x.nbytes());
  return without_part(seconds, 2 * bytes / rate_at(numbers.element_wise, 3 * bytes));
}

/// Rates of a forward product and the two that its backward pass makes.
RateCurve probe_products(const core::ModelOptions& model, double operation) {
  RateCurve curve;
  const at::Tensor kernel = at::full({model.d_model, model.ffn}, 0.5);
  for (std::int64_t rows = 4; rows <= 16384; rows *= 4) {
    const at::Tensor x = at::full({rows, model.d_model}, 0.5);
    const at::Tensor y = at::full({rows, model.ffn}, 0.5);
    const double seconds = seconds_of([&] {
      core::product(x, kernel);
      core::product(y, kernel.t());
      core::product(x.t(), y);
    });
    const double flops = 2.0 * static_cast<double>(rows * model.d_model * model.ffn);
    curve.push_back({flops, 3 * flops / without_part(seconds, 3 * operation)});
    if (seconds > too_long) break;
  }
  return curve;
}

/// Rates of the products for logits and weighted values, forward and backward, of sequences of several lengths.
RateCurve probe_batched_products(const core::ModelOptions& model, double operation) {
  constexpr std::int64_t sequences = 4;
  const std::int64_t columns = model.d_model / model.heads;
  RateCurve curve;
  for (std::int64_t length = 8; length <= 2048; length *= 4) {
    const std::int64_t matrices = sequences * model.heads;
    const at::Tensor rows = at::full({length, columns}, 0.5);
    const at::Tensor weights = at::full({length, length}, 0.5);
    const double seconds = seconds_of([&] {
      for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
        core::product(rows, rows.t());
        core::product(weights, rows);
        core::product(weights.t(), rows);
      }
    });
    const double flops = 2.0 * static_cast<double>(length * length * columns);
    curve.push_back({flops, 3 * static_cast<double>(matrices) * flops / without_part(seconds, 3 * operation)});
    if (seconds > too_long) break;
  }
  return curve;
}

/// Rates of sums of two tensors into new ones, which are kept as by a graph: they have left the caches when they are
/// freed.
RateCurve probe_element_wise(double operation) {
  constexpr std::size_t kept_bytes = std::size_t{1} << 26;
  RateCurve curve;
  for (std::int64_t elements = 1 << 13; elements <= 1 << 23; elements *= 8) {
    std::vector<at::Tensor> kept = {at::ones({elements})};
    const at::Tensor other = at::ones({elements});
    const double seconds = seconds_of([&] {
      kept.push_back(kept.back() + other);
      if (kept.size() * kept.front().nbytes() > kept_bytes) kept.erase(kept.begin(), kept.end() - 1);
    });
    const double bytes = 3.0 * static_cast<double>(other.nbytes());
    curve.push_back({bytes, bytes / without_part(seconds, operation)});
    if (seconds > too_long) break;
  }
  return curve;
}

/// Seconds of an operation on next to nothing, and of its backward pass: the mean of the two.
double probe_operation() {
  const at::AutoGradMode graph(true);
  constexpr int length = 100;
  const at::Tensor x = at::ones({8}).requires_grad_();
  return seconds_of([&] {
           at::Tensor y = x;
           for (int made = 0; made < length; ++made) y = y + x;
           y.sum().backward();
         }) /
         (2 * length);
}

/// Numbers per second, from the time that dropout takes beyond its element-wise part.
double probe_random_numbers(const core::ModelOptions& model, const MachineNumbers& numbers) {
  const dist::Rows rows = dist::rows_of({{0}, {1024}}, 0, 1);
  const at::Tensor x = at::ones({rows.count(), model.ffn});
  const core::DropoutKey key = core::DropoutKey::for_update(1, 1);
  const double seconds = seconds_of([&] { core::dropout(x, 0.1, key, rows); });
  return static_cast<double>(x.numel()) / without_element_wise(seconds, x, numbers);
}

double probe_exponentials(const core::ModelOptions& model, const MachineNumbers& numbers) {
  const at::Tensor x = at::ones({4 * model.heads, 256, 256});
  const double seconds = seconds_of([&] { at::softmax(x, -1); });
  return static_cast<double>(x.numel()) / without_element_wise(seconds, x, numbers);
}

double probe_row_moves(const core::ModelOptions& model, const MachineNumbers& numbers) {
  constexpr std::int64_t rows = 2048;
  const at::Tensor x = at::ones({rows * model.heads, model.d_model / model.heads});
  const double seconds = seconds_of([&] {
    const at::Tensor index = (at::arange(rows).unsqueeze(1) * model.heads + at::arange(model.heads)).flatten();
    dist::select_rows(x, index);
  });
  return static_cast<double>(x.size(0)) / without_element_wise(seconds, x, numbers);
}

}  // namespace

void probe_work(MachineNumbers& numbers, const core::ModelOptions& model) {
  const at::NoGradGuard no_graph;
  numbers.operation = probe_operation();
  numbers.products = probe_products(model, numbers.operation);
  numbers.batched_products = probe_batched_products(model, numbers.operation);
  numbers.element_wise = probe_element_wise(numbers.operation);
  numbers.random_numbers = probe_random_numbers(model, numbers);
  numbers.exponentials = probe_exponentials(model, numbers);
  numbers.row_moves = probe_row_moves(model, numbers);
}

}  // namespace ut::launcher
