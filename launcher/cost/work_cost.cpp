#include "launcher/cost/work_cost.h"

#include <algorithm>

namespace ut::launcher {

WorkCost::WorkCost(const MachineNumbers& machine, double slowdown, double number_bytes)
    : machine_(machine), slowdown_(slowdown), number_bytes_(number_bytes) {}

void WorkCost::product(double rows, double inner, double columns, double count, double& part) {
  const double flops = 2 * rows * inner * columns;
  if (flops == 0) return;
  const double width_factor = number_bytes_ / sizeof(float);
  part += slowdown_ * width_factor * count * flops / rate_at(machine_.products, flops);
  operations_ += count;
}

void WorkCost::batched_product(double matrices, double rows, double inner, double columns, double count, double& part) {
  const double flops = 2 * rows * inner * columns;
  if (matrices * flops == 0) return;
  const double width_factor = number_bytes_ / sizeof(float);
  part += slowdown_ * width_factor * count * matrices * flops / rate_at(machine_.batched_products, flops);
  operations_ += count;
}

void WorkCost::add_element_wise(double elements, double times, double& part) {
  constexpr double times_of_one = 3;  // two tensors read, one written
  const double bytes = elements * number_bytes_;
  if (bytes > 0) part += slowdown_ * times * bytes / rate_at(machine_.element_wise, times_of_one * bytes);
}

void WorkCost::random_numbers(double count, double& part) const { part += slowdown_ * count / machine_.random_numbers; }

void WorkCost::exponentials(double count, double& part) const { part += slowdown_ * count / machine_.exponentials; }

void WorkCost::row_moves(double count, double& part) const { part += slowdown_ * count / machine_.row_moves; }

double WorkCost::operations_beside(double work_seconds) const {
  const double seconds = slowdown_ * operations_ * machine_.operation;
  return machine_.asynchronous ? std::max(0.0, seconds - work_seconds) : seconds;
}

}  // namespace ut::launcher
