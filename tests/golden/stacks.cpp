#include <ATen/ATen.h>

#include "core/recurrence.h"
#include "tests/golden/hyperparameters.h"
#include "tests/golden/kinds.h"
#include "tests/golden/padded_rows.h"
#include "tests/golden/stack_trace.h"
#include "tests/golden/weights.h"

namespace ut::golden {
namespace {

/// A stack alone, with the case's weights.
struct Stack {
  Stack(const Case& golden, core::Precision precision, bool decoder)
      : options(model_options(golden, precision)),
        parameters(precision, 0),
        recurrence(parameters, decoder ? "decoder" : "encoder", options, options.encoder_steps, decoder),
        prefix(decoder ? "dec/" : "enc/") {
    parameters.flatten();
    load_weights(golden, options.norm, parameters);
    require_all_weights_used(golden);
  }

  core::ModelOptions options;
  core::Parameters parameters;
  core::Recurrence recurrence;
  std::string prefix;
};

/// An array [sequences, length, d] of the case as a leaf [rows, d], padding included.
at::Tensor leaf(const Case& golden, const std::string& name, core::Precision precision) {
  return golden.array(name).to(core::scalar_type(precision)).flatten(0, 1).clone().requires_grad_();
}

/// The case's mask [sequences, length], or ones if it has none.
at::Tensor mask(const Case& golden, const std::string& name, const std::string& of) {
  return golden.has(name) ? golden.array(name) : at::ones(golden.array(of).sizes().slice(0, 2));
}

/// Runs the stack; compares its states, its output, the loss and all gradients except the memory's.
void run(Stack& stack, const at::Tensor& inputs, const dist::SequenceExchange& exchange, const core::Memory* memory,
         Comparison& comparison) {
  const Case& golden = comparison.golden();
  const auto sizes = golden.array("inputs").sizes();
  if (golden.has("random_p")) stack.recurrence.replace_halting_unit(recorded_noise(golden));
  const auto rows = stack.recurrence.make_rows(exchange, memory);
  StackTrace trace;
  trace.output = stack.recurrence.forward(inputs, exchange.local().position, stack.options.encoder_steps, *rows, memory,
                                          {}, trace.observer());
  compare_trace(comparison, stack.prefix, trace, at::arange(inputs.size(0)));

  if (const at::Tensor act_loss = trace.act_loss(golden); act_loss.defined()) {
    comparison.check(Quantity::loss, "act_loss", act_loss.item<double>());
    if (act_loss.requires_grad()) act_loss.backward({}, /*retain_graph=*/true);
    compare_gradients(comparison, stack.options.norm, stack.parameters, "grad_act_loss/");
    if (inputs.grad().defined())
      comparison.check(Quantity::gradient, "grad_act_loss/inputs", inputs.grad().view(sizes));
  }
  const at::Tensor coefficients = golden.array("loss_coef").to(at::kDouble);
  const at::Tensor loss = (trace.output.state.view(sizes).to(at::kDouble) * coefficients).sum();
  const double added = trace.output.cost.defined() ? trace.act_loss(golden).item<double>() : 0;
  comparison.check(Quantity::loss, "loss_main", loss.item<double>());
  comparison.check(Quantity::loss, "loss", loss.item<double>() + added);
  loss.backward();
  compare_gradients(comparison, stack.options.norm, stack.parameters, "grad/");
  comparison.check(Quantity::gradient, "grad/inputs", inputs.grad().view(sizes));
}

}  // namespace

void compare_encoder_stack(const Case& golden, core::Precision precision, Comparison& comparison) {
  Stack stack(golden, precision, false);
  const at::Tensor real = mask(golden, "nonpadding", "inputs");
  const auto group = dist::make_single_communicator();
  const auto exchange = all_real(real) ? dist::make_exchange(sequences_of(real), *group) : make_padded_exchange(real);
  if (!all_real(real)) remove_padding(golden, stack.recurrence.block(), real);
  run(stack, leaf(golden, "inputs", precision), *exchange, nullptr, comparison);
}

void compare_decoder_stack(const Case& golden, core::Precision precision, Comparison& comparison) {
  Stack stack(golden, precision, true);
  golden.mark_used("nonpadding");  // the authors' decoder stack has no mask of its own rows
  const auto group = dist::make_single_communicator();
  const auto exchange = dist::make_exchange(sequences_of(at::ones(golden.array("inputs").sizes().slice(0, 2))), *group);
  const at::Tensor real = mask(golden, "memory_nonpadding", "memory");
  const auto source = dist::make_exchange(sequences_of(real), *group);
  const at::Tensor memory = leaf(golden, "memory", precision);
  const core::Memory seen = stack.recurrence.block().remember(memory.index_select(0, real_rows(real)), *source);
  run(stack, leaf(golden, "inputs", precision), *exchange, &seen, comparison);
  comparison.check(Quantity::gradient, "grad/memory", memory.grad().view(golden.array("memory").sizes()));
}

}  // namespace ut::golden
