#include "launcher/cost/step_cost.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/host_attention.h"
#include "launcher/cost/use_counts.h"

namespace ut::launcher {

void StepCost::around(const StepRows& step, core::Halting halting) {
  add_element_wise(step.rows * d_, uses::signals);
  cost_.operations(operation_counts::signals);
  if (halting == core::Halting::none) return;
  add_element_wise(step.rows * d_, uses::halting);
  cost_.operations(operation_counts::halting);
  if (halting == core::Halting::act_copy && step.some_leave) {
    add_element_wise(step.rows * d_, uses::leaving_rows);
    cost_.operations(operation_counts::leaving_rows);
  }
}

void StepCost::self_attention(const StepRows& step, bool stored, bool causal) {
  const double sharing = real(layout_.sequence_parallel);
  const double all_rows = (step.rows + step.copied) * sharing;
  const bool projects_all = sharing > 1 && layout_.exchange.sent == dist::Sent::states;
  product(step.rows, d_, (projects_all ? 1 : 3) * d_);
  product(projects_all ? all_rows : step.copied, d_, 2 * d_);
  add_element_wise(step.rows * d_, attends_in_place_ ? uses::projected_in_place : uses::projected_to_heads);
  if (sharing > 1) add_element_wise(all_rows * d_, uses::gathered);
  if (stored) {
    add_element_wise(all_rows * d_, uses::stored);
  } else {
    add_element_wise(step.rows * d_, uses::not_stored);
    add_element_wise(step.key_rows * d_, attends_in_place_ ? uses::keys_in_place : uses::keys_to_heads);
  }
  if (!attends_in_place_) move_heads(step, stored ? 3 * all_rows : 2 * step.key_rows);
  attention(step, stored, causal);
  product(step.rows, d_, d_);
  residual(step.rows);
  cost_.operations(operation_counts::self_attention);
}

void StepCost::cross_attention(const StepRows& step, const MemoryRows& memory) {
  StepRows over = step;
  over.keys = memory.keys;
  const double key_rows = step.sequences * memory.length;
  product(step.rows, d_, d_);
  const double times = attends_in_place_ ? uses::memory_in_place : uses::memory_to_heads;
  add_element_wise(step.rows * d_, times);
  add_element_wise(key_rows * d_, times);
  if (!attends_in_place_) move_heads(step, 2 * key_rows);
  attention(over, false, false);
  product(step.rows, d_, d_);
  residual(step.rows);
  cost_.operations(operation_counts::cross_attention);
}

void StepCost::transition(const StepRows& step) {
  const bool convolves = model_.transition == core::TransitionKind::separable_convolution;
  const double first = convolves ? step.inner : step.rows;
  const double hidden = first * real(model_.ffn);
  product(first, d_, real(model_.ffn));
  add_element_wise(hidden, uses::hidden);
  dropout(hidden, model_.transition_dropout, seconds_.element_wise);
  product(step.rows, real(model_.ffn), d_);
  add_element_wise(step.rows * d_, uses::outputs);
  if (convolves) add_element_wise(first * 3 * d_ + step.rows * 5 * real(model_.ffn), uses::windows);
  residual(step.rows);
  cost_.operations(convolves ? operation_counts::convolution : operation_counts::feed_forward);
}

void StepCost::product(double rows, double inner, double columns) {
  cost_.product(rows, inner, columns, 3, seconds_.products);  // one forward, two backward
}

void StepCost::dropout(double elements, double rate, double& part) {
  if (rate == 0) return;
  cost_.random_numbers(2 * elements, part);
  cost_.add_element_wise(elements, uses::dropout, part);
  cost_.operations(operation_counts::dropout);
}

void StepCost::move_heads(const StepRows& step, double keys_values) {
  const double rows = 2 * step.rows + keys_values;
  cost_.row_moves(2 * rows * real(model_.heads), seconds_.element_wise);
}

void StepCost::residual(double rows) {
  dropout(rows * d_, model_.residual_dropout, seconds_.element_wise);
  add_element_wise(rows * d_, uses::residual);
}

void StepCost::attention_in_place(const StepRows& step, bool causal) {
  const double matrices = step.sequences * real(model_.heads);
  const double columns = d_ / real(model_.heads);
  const double seen = causal ? std::min(step.keys, (step.keys + real(core::queries_at_once)) / 2) : step.keys;
  const double weights = matrices * step.queries * seen;
  double& part = seconds_.attention;
  cost_.batched_product(matrices, step.queries, columns, seen, 4, part);
  cost_.batched_product(matrices, step.queries, seen, columns, 3, part);
  cost_.exponentials(2 * weights, part);
  cost_.add_element_wise(weights, uses::weights_in_place, part);
  if (model_.attention_dropout == 0) return;
  cost_.random_numbers(2 * matrices * step.queries * 64 * std::ceil(seen / 64), part);  // drawn in groups of 64
  cost_.add_element_wise(weights, uses::dropped_in_place, part);
}

void StepCost::attention(const StepRows& step, bool stored, bool causal) {
  if (attends_in_place_) return attention_in_place(step, causal);
  const double matrices = step.sequences * real(model_.heads);
  const double columns = d_ / real(model_.heads);
  const double weights = matrices * step.queries * step.keys;
  double& part = seconds_.attention;
  cost_.batched_product(matrices, step.queries, columns, step.keys, 3, part);
  cost_.batched_product(matrices, step.queries, step.keys, columns, 3, part);
  cost_.exponentials(weights, part);
  cost_.add_element_wise(weights, causal ? uses::weights_masked : uses::weights, part);
  if (model_.attention_dropout == 0) return;
  // The key-value store keeps weights without dropout, and draws again, twice, in the backward pass.
  const double rounds = stored ? 3 : 2;
  const double drawn = matrices * step.queries * 64 * std::ceil(step.keys / 64);  // drawn in groups of 64
  cost_.random_numbers(drawn * rounds, part);
  cost_.add_element_wise(weights, uses::dropped_weights * rounds, part);
  cost_.operations(stored ? operation_counts::redrawn_weights : operation_counts::dropped_weights);
}

}  // namespace ut::launcher
