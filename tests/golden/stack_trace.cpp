#include "tests/golden/stack_trace.h"

#include <ATen/ATen.h>

#include <utility>

namespace ut::golden {
namespace {

/// A part of every step's halting state, stacked: [steps, ...].
template <class Part>
at::Tensor of_steps(const std::vector<core::HaltingState>& ponder, const Part& part) {
  std::vector<at::Tensor> steps;
  for (const core::HaltingState& halting : ponder) steps.push_back(part(halting));
  return at::stack(steps);
}

/// [steps]: whether another step was to follow.
at::Tensor loop_continues(const Case& golden, const std::vector<core::HaltingState>& ponder) {
  std::vector<double> result;
  for (const core::HaltingState& halting : ponder)
    result.push_back(halting.running().any().item<bool>() &&
                     std::cmp_less(result.size() + 1, golden.hparams().at("act_max_steps").get<std::int64_t>()));
  return at::tensor(result, at::kDouble);
}

void compare_pondering(Comparison& comparison, const std::string& stack, const StackTrace& trace,
                       const at::Tensor& rows) {
  const Case& golden = comparison.golden();
  const bool is_global = golden.hparams().value("act_type", "") == "global";
  const auto length = is_global ? golden.array(stack + "output").size(1) : 0;
  const auto check = [&](const std::string& name, std::int64_t axis, const at::Tensor& got) {
    if (!golden.has(stack + name)) return;
    const at::Tensor& theirs = golden.array(stack + name);  // if sequences decide: one value a sequence
    const bool one_for_all = is_global && theirs.dim() == axis + 1;
    auto sizes = theirs.sizes().vec();
    if (one_for_all) sizes.push_back(length);
    const at::Tensor expected = one_for_all ? theirs.unsqueeze(-1).expand(sizes) : theirs;
    comparison.check(Quantity::output, stack + name, got, rows_of_array(expected, axis, rows));
  };
  check("steps/halting_probability", 1,
        of_steps(trace.ponder, [](const auto& halting) { return halting.probability(); }));
  check("steps/remainders", 1, of_steps(trace.ponder, [](const auto& halting) { return halting.remainder(); }));
  check("steps/n_updates", 1, of_steps(trace.ponder, [](const auto& halting) { return halting.updates(); }));
  check("steps/update_weight", 1, of_steps(trace.ponder, [](const auto& halting) { return halting.weight(); }));
  check("steps/weighted_state", 1, of_steps(trace.ponder, [](const auto& halting) { return halting.mean(); }));
  check("steps/transformed_state", 1, at::stack(trace.states));
  check("ponder_times", 0, trace.output.updates);
  check("remainders", 0, trace.ponder.back().remainder());
  check("state", 0, trace.ponder.back().mean());
  if (const std::string name = stack + "loop_should_continue_after"; golden.has(name))
    comparison.check(Quantity::output, name, loop_continues(golden, trace.ponder));
  if (!is_global)  // for global halting the authors recorded each position's own probability
    check("steps/p", 1, at::stack(trace.probabilities));
}

}  // namespace

core::StepObserver StackTrace::observer() {
  const auto step = [this](std::int64_t, const dist::Rows&, const at::Tensor& state, const core::HaltingState* halting,
                           const at::Tensor& probability) {
    states.push_back(state);
    if (halting == nullptr) return;
    ponder.push_back(*halting);
    probabilities.push_back(probability);
  };
  return {step, {}};
}

at::Tensor StackTrace::act_loss(const Case& golden) const {
  if (!output.cost.defined()) return {};
  return golden.hparams().at("act_loss_weight").get<double>() * output.cost.mean();
}

void compare_trace(Comparison& comparison, const std::string& stack, const StackTrace& trace, const at::Tensor& rows) {
  const Case& golden = comparison.golden();
  const auto check = [&](const std::string& name, std::int64_t axis, const at::Tensor& got) {
    if (golden.has(stack + name))
      comparison.check(Quantity::output, stack + name, got, rows_of_array(golden.array(stack + name), axis, rows));
  };
  check("output", 0, trace.output.state);
  if (!trace.ponder.empty()) return compare_pondering(comparison, stack, trace, rows);
  check("steps/state", 1, at::stack(trace.states));
  check("state", 0, trace.states.back());
}

at::Tensor rows_of_array(const at::Tensor& array, std::int64_t axis, const at::Tensor& rows) {
  return array.flatten(axis, axis + 1).index_select(axis, rows);
}

core::HaltingDraw recorded_noise(const Case& golden) {
  return [noise = golden.array("random_p").to(at::kDouble)](std::int64_t step, const dist::Rows&) {
    return noise[step - 1].flatten();
  };
}

}  // namespace ut::golden
