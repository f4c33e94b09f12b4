#include "core/recurrence.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "core/signals.h"

namespace ut::core {

Recurrence::Recurrence(Parameters& parameters, const std::string& name, const ModelOptions& options, std::int64_t steps,
                       bool decoder)
    : options_(options), decoder_(decoder), block_(parameters, name, options, decoder) {
  if (options.norm == Norm::pre) final_norm_.emplace(parameters, name + ".final_norm", options.d_model);
  if (options.step_signal == StepSignal::learned)
    step_table_ = parameters.add_normal(name + ".step_signal", {steps, options.d_model},
                                        1 / std::sqrt(static_cast<double>(options.d_model)));
}

at::Tensor Recurrence::step_signals(std::int64_t steps) const {
  if (!step_table_.defined()) return sinusoid(at::arange(steps), options_.d_model, options_.signal);
  if (steps > step_table_.size(0))
    throw base::BadInput(fmt::format("--steps {}: the model's learned step signal has {} steps; give at most that many",
                                     steps, step_table_.size(0)));
  return step_table_.narrow(0, 0, steps) * std::sqrt(static_cast<double>(options_.d_model));
}

at::Tensor Recurrence::forward(at::Tensor state, const at::Tensor& position, std::int64_t steps, const StackRows& rows,
                               const Memory* memory, const DropoutKey& dropout,
                               const std::function<void(std::int64_t, const at::Tensor&)>& watch) const {
  const DropoutKey stack = dropout.with_stack(decoder_ ? 1 : 0);
  const at::Tensor position_signal = sinusoid(position, options_.d_model, options_.signal).to(state.options());
  const at::Tensor step_signal = step_signals(steps).to(state.options());
  state = core::dropout(state, options_.input_dropout, stack.with_site(Site::input), rows.exchange.local());
  for (std::int64_t step = 1; step <= steps; ++step) {
    const at::Tensor signal = position_signal + step_signal[step - 1];  // P^t, [rows, d]
    state = block_.step(state, signal, rows, memory, stack.with_step(step));
    if (watch) watch(step, state);
  }
  return final_norm_ ? (*final_norm_)(state) : state;
}

}  // namespace ut::core
