#include "launcher/cost/stack_memory.h"

namespace ut::launcher {

double StackMemory::kept(const StepRows& step) const {
  const double states = step.some_leave ? 2 : 1;  // before the step and after it
  return step.rows * states * d_ * number_;
}

double StackMemory::layer(const StepRows& step, bool stored, double memory_keys) const {
  const double row = d_ * 6 + transition();
  double numbers = step.rows * row + attention(step, stored);
  const double keys_values = stored ? (step.rows + step.copied) * sharing_ : step.sequences * step.keys;
  numbers += keys_values * 2 * d_;
  if (memory_keys > 0) {
    StepRows over = step;
    over.keys = memory_keys;
    numbers += step.rows * d_ * 4 + attention(over, false);
    if (!keeps_no_weights_) numbers += step.sequences * memory_keys * 2 * d_;
  }
  return numbers * number_;
}

double StackMemory::attention(const StepRows& step, bool stored) const {
  if (keeps_no_weights_ || model_.recompute != core::Recompute::none) return step.rows * real(model_.heads);
  const double weights = step.sequences * real(model_.heads) * step.queries * step.keys;
  return weights * (!stored && drops(model_.attention_dropout) ? 2 : 1);
}

double StackMemory::transition() const {
  return real(model_.ffn) + (convolves_ ? d_ + real(model_.ffn) : 0);  // hidden; filters' outputs before products
}

}  // namespace ut::launcher
