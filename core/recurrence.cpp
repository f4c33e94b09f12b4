#include "core/recurrence.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "core/products.h"
#include "core/recompute.h"
#include "core/running_rows.h"
#include "core/signals.h"
#include "core/whole_rows.h"
#include "dist/differentiable.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

/// With --recompute step, how many of the encoder's steps are recomputed together. Only one state is kept for all of
/// them, which saves memory while the backward pass is still in the decoder, whose steps need more of it.
constexpr std::int64_t steps_kept_together = 2;

/// H + P, from states [rows, d] and the signals of their positions [rows, d] and of the step [d].
at::Tensor add_signals(const at::Tensor& state, const at::Tensor& position_signal, const at::Tensor& step_signal) {
  return state + (position_signal + step_signal);
}

}  // namespace

Recurrence::Recurrence(Parameters& parameters, const std::string& name, const ModelOptions& options, std::int64_t steps,
                       bool decoder)
    : options_(options), decoder_(decoder), block_(parameters, name, options, decoder) {
  if (options.norm == Norm::pre) final_norm_.emplace(parameters, name + ".final_norm", options.d_model);
  if (options.step_signal == StepSignal::learned)
    step_table_ = parameters.add_normal(name + ".step_signal", {steps, options.d_model},
                                        1 / std::sqrt(static_cast<double>(options.d_model)));
  if (halting() != Halting::none) halting_unit_.emplace(parameters, name + ".halting", options);
}

std::shared_ptr<StackRows> Recurrence::make_rows(const dist::SequenceExchange& exchange, const Memory* memory) const {
  const dist::Rows* memory_rows = memory == nullptr ? nullptr : &memory->rows;
  if (halted_rows_leave()) return make_running_rows(exchange, decoder_, memory_rows, options_.halting.balance);
  return make_whole_rows(exchange, decoder_, memory_rows, {product_type(options_), options_.d_model / options_.heads});
}

Recurrence::PositionSignals Recurrence::PositionSignals::select(const at::Tensor& rows) const {
  PositionSignals result = *this;
  result.place_ = place_.defined() ? place_.index_select(0, rows) : rows;
  return result;
}

Recurrence::PositionSignals Recurrence::position_signals(const at::Tensor& position, const at::Tensor& like) const {
  return PositionSignals(sinusoid(position, options_.d_model, options_.signal).to(like.options()));
}

at::Tensor Recurrence::step_signals(std::int64_t steps, const at::Tensor& like) const {
  if (!step_table_.defined())
    return sinusoid(at::arange(steps, like.options().dtype(at::kLong)), options_.d_model, options_.signal)
        .to(like.options());
  if (steps > step_table_.size(0))
    throw base::BadInput("--steps {}: the model's learned step signal has {} steps; give at most that many", steps,
                         step_table_.size(0));
  return step_table_.narrow(0, 0, steps) * std::sqrt(static_cast<double>(options_.d_model));
}

StackOutput Recurrence::forward(const at::Tensor& state, const at::Tensor& position, std::int64_t steps,
                                StackRows& rows, const Memory* memory, const DropoutKey& dropout,
                                const StepObserver& observer) const {
  const DropoutKey stack = dropout.with_stack(decoder_ ? 1 : 0);
  const at::Tensor input =
      core::dropout(state, options_.input_dropout, stack.with_site(Site::input), rows.step()->local());
  const SharedRows seen = memory == nullptr ? SharedRows() : SharedRows(memory->keys_values);
  StackOutput output = halting() == Halting::none
                           ? run_fixed_steps(input, position, steps, rows, seen, stack, observer)
                           : run_until_halted(input, position, steps, rows, seen, stack, observer);
  if (final_norm_) output.state = (*final_norm_)(output.state);
  return output;
}

StackOutput Recurrence::run_fixed_steps(at::Tensor state, const at::Tensor& position, std::int64_t steps,
                                        StackRows& rows, const SharedRows& memory, const DropoutKey& stack,
                                        const StepObserver& observer) const {
  const PositionSignals position_signal = position_signals(position, state);
  const at::Tensor step_signal = step_signals(steps, state);
  const bool before_decoder = !decoder_ && options_.architecture == Architecture::encoder_decoder;
  const bool together = options_.recompute == Recompute::step && before_decoder && !observer.step;
  const std::int64_t at_once = together ? steps_kept_together : 1;
  for (std::int64_t done = 0; done < steps; done += at_once) {
    const StepRange range{done + 1, std::min(steps, done + at_once)};
    if (observer.step_backward) state = dist::call_in_backward(state, observer.step_backward);
    state = run_steps(range, {state}, position_signal, step_signal, rows.step(), {}, memory, stack);
    if (observer.step) observer.step(range.last, rows.step()->local(), state, nullptr, {});
  }
  return {state, at::full({state.size(0)}, steps, state.options().dtype(at::kLong)), {}};
}

at::Tensor Recurrence::run_steps(const StepRange& range, const StepInput& input, const PositionSignals& position_signal,
                                 const at::Tensor& step_signal, const std::shared_ptr<StepRows>& rows,
                                 const NewlyHalted& copied, const SharedRows& memory, const DropoutKey& stack) const {
  std::vector<at::Tensor> inputs{input.state, step_signal};
  inputs.insert(inputs.end(), memory.inputs().begin(), memory.inputs().end());
  const auto before_copied = std::ssize(inputs);
  if (copied.state.defined()) inputs.insert(inputs.end(), {copied.state, copied.signal});
  const auto make = [this, range, position_signal, rows, memory, before_copied, stack,
                     known = input.with_signals](const std::vector<at::Tensor>& in) {
    const auto first_copied = in.begin() + before_copied;
    const std::vector<at::Tensor> seen = memory.rows_for({in.begin() + 2, first_copied});
    const NewlyHalted copies = first_copied == in.end() ? NewlyHalted{} : NewlyHalted{first_copied[0], first_copied[1]};
    at::Tensor made = in[0];
    for (std::int64_t step = range.first; step <= range.last; ++step) {
      const bool is_known = step == range.first && known.defined();
      const at::Tensor with_signals = is_known ? known : add_signals(made, position_signal.all(), in[1][step - 1]);
      made = block_.step(made, with_signals, *rows, seen, stack.with_step(step), copies);
    }
    return made;
  };
  return options_.recompute == Recompute::step ? recomputed(inputs, make) : make(inputs);
}

at::Tensor Recurrence::halting_probability(const StepInput& input, const PositionSignals& position_signal,
                                           const at::Tensor& step_signal, std::int64_t step,
                                           const std::shared_ptr<StepRows>& rows, const DropoutKey& key) const {
  if (input.with_signals.defined()) return halting_unit_->probability(input.with_signals, step, *rows, key);
  const auto decide = [this, position_signal, step, rows, key](const std::vector<at::Tensor>& in) {
    return halting_unit_->probability(add_signals(in[0], position_signal.all(), in[1]), step, *rows, key);
  };
  const std::vector<at::Tensor> inputs{input.state, step_signal};
  return options_.recompute == Recompute::step ? recomputed(inputs, decide) : decide(inputs);
}

/// The results of rows that have halted, in the order in which they halted.
class Recurrence::HaltedRows {
 public:
  /// Adds the last rows of `ponder`, from number `first` on.
  void add(const HaltingState& ponder, std::int64_t first) {
    const auto of_them = [first](const at::Tensor& part) {
      return part.slice(0, first).clone();
    };  // a slice alone would keep all of it in memory
    states_.push_back(of_them(ponder.mean()));
    updates_.push_back(of_them(ponder.updates()));
    costs_.push_back(of_them(ponder.cost()));
  }

  /// In the order in which the stack was given them.
  StackOutput all(const StackRows& rows) const {
    return {rows.return_to_initial_rows(at::cat(states_)), rows.return_to_initial_rows(at::cat(updates_)),
            rows.return_to_initial_rows(at::cat(costs_))};
  }

 private:
  std::vector<at::Tensor> states_;
  std::vector<at::Tensor> updates_;
  std::vector<at::Tensor> costs_;
};

StackOutput Recurrence::run_until_halted(const at::Tensor& input, const at::Tensor& position, std::int64_t steps,
                                         StackRows& rows, const SharedRows& memory, const DropoutKey& stack,
                                         const StepObserver& observer) const {
  const at::Tensor step_signal = step_signals(steps, input);
  Unhalted unhalted{input, position, position_signals(position, input), HaltingState(input, options_.halting)};
  HaltedRows halted;
  NewlyHalted copied;
  for (std::int64_t step = 1; step <= steps; ++step) {
    auto& [state, _, position_signal, ponder] = unhalted;
    const std::shared_ptr<StepRows> here = rows.step();
    if (observer.step_backward) state = dist::call_in_backward(state, observer.step_backward);
    StepInput given{state};
    if (options_.recompute != Recompute::step)
      given.with_signals = add_signals(state, position_signal.all(), step_signal[step - 1]);
    const at::Tensor probability =
        halting_probability(given, position_signal, step_signal[step - 1], step, here, stack.with_step(step));
    ponder.decide(probability, halted_rows_leave() && step == steps);
    rows.start_compaction(ponder.running());  // the ranks tell one another who goes on while the step is computed
    state = run_steps({step, step}, given, position_signal, step_signal, here, copied, memory, stack);
    if (observer.step) {
      HaltingState with_state = ponder;
      with_state.add_to_mean(state);
      observer.step(step, here->local(), state, &with_state, probability);
    }
    copied = compact(unhalted, halted, rows, step_signal.slice(0, step));
    if (!rows.any_running()) break;
  }
  return halted_rows_leave() ? halted.all(rows)
                             : StackOutput{unhalted.ponder.mean(), unhalted.ponder.updates(), unhalted.ponder.cost()};
}

NewlyHalted Recurrence::compact(Unhalted& unhalted, HaltedRows& halted, StackRows& rows,
                                const at::Tensor& later_step_signals) const {
  auto& [state, position, position_signal, ponder] = unhalted;
  const dist::Compaction compaction = rows.finish_compaction();
  const std::int64_t still = compaction.still.size(0);
  const bool all_stay = still == state.size(0);
  const at::Tensor order = all_stay ? compaction.still : at::cat({compaction.still, compaction.stopped});
  if (!all_stay) {  // before the mean takes the states: so it and the next step save the same tensor for backward
    state = dist::select_rows(state, order);
    ponder = ponder.in_order(order);
  }
  ponder.add_to_mean(state);
  if (halted_rows_leave()) halted.add(ponder, still);
  if (!rows.any_running() || (all_stay && !rows.has_moved())) return {};

  NewlyHalted copied;
  if (compaction.copied.size(0) > 0)
    copied = {dist::select_rows(ponder.mean(), dist::inverse_permutation(order).index_select(0, compaction.copied)),
              position_signal.select(compaction.copied).all() + later_step_signals[0]};
  const auto stay = [&](const at::Tensor& part) { return rows.move_with_rows(part.narrow(0, 0, still)); };
  state = stay(state);
  ponder = ponder.of_running(stay);
  position = rows.move_with_rows(position.index_select(0, compaction.still));
  position_signal = rows.has_moved() ? position_signals(position, state) : position_signal.select(compaction.still);
  return copied;
}

}  // namespace ut::core
