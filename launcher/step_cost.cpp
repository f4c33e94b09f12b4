#include "launcher/step_cost.h"

#include <algorithm>
#include <cmath>

#include "core/row_attention.h"

namespace ut::launcher {

void StepCost::around(const StepRows& step, core::Halting halting) {
  touch(step.rows * d_, 9);
  cost_.operations(18);
  if (halting == core::Halting::none) return;
  touch(step.rows * d_, 14);  // the unit's input, the mean of states
  cost_.operations(15);
  if (halting == core::Halting::act_copy && step.some_leave) {
    touch(step.rows * d_, 16);  // rows that stay are copied, forward and backward
    cost_.operations(50);
  }
}

void StepCost::self_attention(const StepRows& step, bool stored, bool causal) {
  const double sharing = real(layout_.sequence_parallel);
  const double all_rows = (step.rows + step.copied) * sharing;
  const bool projects_all = sharing > 1 && layout_.exchange.sent == dist::Sent::states;
  product(step.rows, d_, (projects_all ? 1 : 3) * d_);
  product(projects_all ? all_rows : step.copied, d_, 2 * d_);
  touch(step.rows * d_, in_place_ ? 8 : 6 + 4 + 4 + 4);  // sums; or split, scaling, queries to heads and back
  if (sharing > 1) touch(all_rows * d_, 20);             // gathered rows put in order
  if (stored) {
    touch(all_rows * d_, 14);  // into the store, and taken back
  } else {
    touch(step.rows * d_, 4);
    touch(step.sequences * step.keys * d_, in_place_ ? 4 : 8);  // their gradients; or to heads and back
  }
  if (!in_place_) move_heads(step, stored ? 3 * all_rows : 2 * step.sequences * step.keys);
  attention(step, stored, causal);
  product(step.rows, d_, d_);
  residual(step.rows);
  cost_.operations(70);
}

void StepCost::cross_attention(const StepRows& step, double memory) {
  StepRows over = step;
  over.keys = memory;
  product(step.rows, d_, d_);
  touch(step.rows * d_, in_place_ ? 6 : 12);
  touch(step.sequences * memory * d_, in_place_ ? 6 : 12);  // gradients of the memory, summed; or to heads and back
  if (!in_place_) move_heads(step, 2 * step.sequences * memory);
  attention(over, false, false);
  product(step.rows, d_, d_);
  residual(step.rows);
  cost_.operations(75);
}

void StepCost::transition(double rows) {
  const double inner = rows * real(model_.ffn);
  const bool convolves = model_.transition == core::TransitionKind::separable_convolution;
  product(rows, d_, real(model_.ffn));
  touch(inner, 7);  // bias and its gradient, ReLU
  dropout(inner, model_.transition_dropout, seconds_.element_wise);
  product(rows, real(model_.ffn), d_);
  touch(rows * d_, 2);
  if (convolves) touch(rows * (3 * d_ + 5 * real(model_.ffn)), 10);  // windows over neighbours
  residual(rows);
  cost_.operations(convolves ? 50 : 25);
}

void StepCost::product(double rows, double inner, double columns) {
  cost_.product(rows, inner, columns, 3, seconds_.products);  // one forward, two backward
}

void StepCost::dropout(double elements, double rate, double& part) {
  if (rate == 0) return;
  cost_.random_numbers(2 * elements, part);
  cost_.touch(elements, 4, part);
  cost_.operations(4);
}

void StepCost::move_heads(const StepRows& step, double keys_values) {
  const double rows = step.sequences * step.queries + step.rows + keys_values;
  cost_.row_moves(2 * rows * real(model_.heads), seconds_.element_wise);
}

void StepCost::residual(double rows) {
  dropout(rows * d_, model_.residual_dropout, seconds_.element_wise);
  touch(rows * d_, 14);
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
  cost_.touch(weights, 4, part);
  if (model_.attention_dropout == 0) return;
  cost_.random_numbers(3 * matrices * step.queries * 64 * std::ceil(seen / 64), part);  // drawn by 64
  cost_.touch(weights, 6, part);
}

void StepCost::attention(const StepRows& step, bool stored, bool biased) {
  if (in_place_) return attention_in_place(step, biased);
  const double matrices = step.sequences * real(model_.heads);
  const double columns = d_ / real(model_.heads);
  const double weights = matrices * step.queries * step.keys;
  double& part = seconds_.attention;
  cost_.batched_product(matrices, step.queries, columns, step.keys, 3, part);
  cost_.batched_product(matrices, step.queries, step.keys, columns, 3, part);
  cost_.exponentials(weights, part);
  cost_.touch(weights, biased ? 8 : 5, part);  // softmax, forward and backward
  if (model_.attention_dropout == 0) return;
  // The store keeps weights as they were and draws again, twice, on the way back.
  const double rounds = stored ? 3 : 2;
  const double drawn = matrices * step.queries * 64 * std::ceil(step.keys / 64);  // drawn by 64
  cost_.random_numbers(drawn * rounds, part);
  cost_.touch(weights, 2 * rounds, part);
  cost_.operations(stored ? 8 : 4);
}

}  // namespace ut::launcher
