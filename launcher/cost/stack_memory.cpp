#include "launcher/cost/stack_memory.h"

namespace ut::launcher {

double StackMemory::kept(const StepRows& step) const {
  const double states = step.some_leave ? 2 : 1;  // before the step and after it
  return step.rows * states * d_ * number_;
}

double StackMemory::layer(const StepRows& step, bool stored, const MemoryRows& memory) const {
  double numbers = step.rows * d_ * 6 + transition(step) + attention(step, stored);
  const double keys_values = stored ? (step.rows + step.copied) * sharing_ : step.key_rows;
  numbers += keys_values * 2 * d_;
  if (memory.length > 0) {
    StepRows over = step;
    over.keys = memory.keys;
    numbers += step.rows * d_ * 4 + attention(over, false);
    if (!keeps_no_weights_) numbers += step.sequences * memory.length * 2 * d_;
  }
  return numbers * number_;
}

double StackMemory::attention(const StepRows& step, bool stored) const {
  if (keeps_no_weights_ || model_.recompute != core::Recompute::none) return step.rows * real(model_.heads);
  const double weights = step.sequences * real(model_.heads) * step.queries * step.keys;
  return weights * (!stored && drops(model_.attention_dropout) ? 2 : 1);
}

double StackMemory::transition(const StepRows& step) const {
  const double ffn = real(model_.ffn);
  if (!convolves_) return step.rows * ffn;           // the hidden layer
  return step.inner * (d_ + ffn) + step.rows * ffn;  // filters' outputs before products, and the hidden layer
}

}  // namespace ut::launcher
