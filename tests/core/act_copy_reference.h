#pragma once

// Halting mode act-copy twice: a stack alone, as the project runs it, and an oracle that follows the definition. The
// oracle works densely in float64: one sequence at a time, all positions at every step, halted ones masked.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/span.h"
#include "core/recurrence.h"
#include "core/signals.h"
#include "tests/core/random_batch.h"

namespace ut::core {

/// The probability that a position halts at a step; empty: the stack's own unit decides. `sequence` is an id.
using Probability = std::function<double(std::int64_t step, std::int64_t sequence, std::int64_t position)>;
/// The last step at which a position is revised.
using LastStep = std::function<std::int64_t(std::int64_t sequence, std::int64_t position)>;

/// Uniform in 0..1, a function of `parts`.
inline double uniform_of(std::initializer_list<std::int64_t> parts) {
  std::uint64_t key = 1;
  for (const std::int64_t part : parts) key = base::mix(key, static_cast<std::uint64_t>(part));
  return static_cast<double>(key >> 11) * 0x1p-53;
}

/// Makes positions stop at these steps, with weights that all differ. For at most 10 steps.
inline Probability halting_at(LastStep last) {
  return [last = std::move(last)](std::int64_t step, std::int64_t sequence, std::int64_t position) {
    return step == last(sequence, position) ? 0.995 : 0.02 + 0.07 * uniform_of({step, sequence, position});
  };
}

/// Random in 1 to `steps` + 1; a position that draws `steps` + 1 is stopped by the limit.
inline LastStep random_last_step(std::int64_t seed, std::int64_t steps) {
  return [seed, steps](std::int64_t sequence, std::int64_t position) {
    return 1 + static_cast<std::int64_t>(uniform_of({seed, sequence, position}) * static_cast<double>(steps + 1));
  };
}

inline HaltingDraw draw_of(const Probability& probability) {
  return [probability](std::int64_t step, const dist::Rows& rows) {
    const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
    const auto* position = rows.position.const_data_ptr<std::int64_t>();
    std::vector<double> values;
    for (std::int64_t row = 0; row < rows.count(); ++row)
      values.push_back(probability(step, sequence[row], position[row]));
    return at::tensor(values, at::kDouble);
  };
}

/// Options of a small stack whose own unit, too, lets positions halt at different steps.
inline ModelOptions act_copy_options() {
  ModelOptions options = small_options();
  options.encoder_steps = options.decoder_steps = 6;
  options.halting.encoder = options.halting.decoder = Halting::act_copy;
  options.halting.bias = -2;
  return options;
}

/// A stack's input: a function of the seed, so that every rank makes the same.
struct StackInput {
  dist::Sequences sequences;
  dist::Sequences sources;            // what a decoder's sequences attend to
  std::vector<std::int64_t> offsets;  // [sequences]: the first position of each
  at::Tensor state;                   // [rows, d]
  at::Tensor encoded;                 // [source rows, d]
  at::Tensor weights;                 // [rows, d]: the loss is the outputs' sum with these, plus some of the cost

  base::Span all() const { return {0, static_cast<std::int64_t>(sequences.ids.size())}; }

  /// Ids differ from indices, so that code which confuses the two fails.
  static std::int64_t id_of(std::int64_t index) { return 7 * index + 3; }
  static std::int64_t index_of(std::int64_t id) { return (id - 3) / 7; }
};

inline StackInput random_input(std::uint64_t seed, const std::vector<std::int64_t>& lengths, std::int64_t d) {
  base::Random random(seed);
  StackInput input;
  for (std::size_t index = 0; index < lengths.size(); ++index) {
    for (dist::Sequences* sequences : {&input.sequences, &input.sources})
      sequences->ids.push_back(StackInput::id_of(static_cast<std::int64_t>(index)));
    input.sequences.lengths.push_back(lengths[index]);
    input.sources.lengths.push_back(random.uniform(1, 5));
    input.offsets.push_back(random.uniform(0, 5));
  }
  const auto rows_of = [](const dist::Sequences& sequences) {
    return std::accumulate(sequences.lengths.begin(), sequences.lengths.end(), std::int64_t{0});
  };
  input.state = random_tensor({rows_of(input.sequences), d}, base::mix(seed, 1));
  input.encoded = random_tensor({rows_of(input.sources), d}, base::mix(seed, 2));
  input.weights = random_tensor({rows_of(input.sequences), d}, base::mix(seed, 3));
  return input;
}

/// A stack without the rest of a model.
struct StandaloneStack {
  StandaloneStack(const ModelOptions& its_options, bool is_decoder, std::uint64_t seed,
                  const Probability& probability = {})
      : options(its_options),
        decoder(is_decoder),
        parameters(options.precision, seed),
        recurrence(parameters, decoder ? "decoder" : "encoder", options, options.encoder_steps, decoder) {
    parameters.flatten();
    const at::NoGradGuard no_graph;
    at::Tensor(parameters.flat()).add_(random_tensor({parameters.elements()}, seed), 0.1);
    if (probability) recurrence.replace_halting_unit(draw_of(probability));
  }

  ModelOptions options;
  bool decoder;
  Parameters parameters;
  Recurrence recurrence;
};

/// The kinds of stack that are tested.
struct StackKind {
  bool decoder;
  TransitionKind transition;
};

inline std::string name_of(const StackKind& kind) {
  return fmt::format("{}With{}", kind.decoder ? "Decoder" : "Encoder",
                     kind.transition == TransitionKind::feed_forward ? "FeedForward" : "Convolution");
}

inline std::ostream& operator<<(std::ostream& stream, const StackKind& kind) { return stream << name_of(kind); }

inline dist::Sequences part_of(const dist::Sequences& sequences, base::Span part) {
  return {{sequences.ids.begin() + part.begin, sequences.ids.begin() + part.end},
          {sequences.lengths.begin() + part.begin, sequences.lengths.begin() + part.end}};
}

/// [rows] int64: the places of `rows`, which belong to the sequences `part` of `all`, among the rows of all sequences.
inline at::Tensor places_of(const dist::Rows& rows, const dist::Sequences& all, base::Span part) {
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> places;
  std::int64_t first = std::accumulate(all.lengths.begin(), all.lengths.begin() + part.begin, std::int64_t{0});
  for (std::size_t index = 0; index + 1 < rows.offsets.size(); ++index) {
    for (auto row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row) places.push_back(first + position[row]);
    first += all.lengths[static_cast<std::size_t>(part.begin) + index];
  }
  return at::tensor(places, at::kLong);
}

inline at::Tensor stack_loss(const at::Tensor& state, const at::Tensor& cost, const at::Tensor& weights) {
  return (state * weights).sum() + 0.3 * cost.sum();
}

/// A stack's pass over this rank's rows. The ranks of `group` share the sequences `part` of an input. Collective.
struct StackPass {
  StackPass(const StandaloneStack& stack, const StackInput& input, base::Span part, dist::Communicator& group,
            const DropoutKey& key = {}, const StepObserver& observer = {}, const dist::ExchangeOptions& options = {})
      : exchange(dist::make_exchange(part_of(input.sequences, part), group, options)),
        source(dist::make_exchange(part_of(input.sources, part), group, options)),
        rows(places_of(exchange->local(), input.sequences, part)),
        source_rows(places_of(source->local(), input.sources, part)),
        state(input.state.to(scalar_type(stack.options.precision)).index_select(0, rows).requires_grad_()),
        encoded(input.encoded.to(scalar_type(stack.options.precision)).index_select(0, source_rows).requires_grad_()) {
    std::optional<Memory> memory;
    if (stack.decoder) memory = stack.recurrence.block().remember(encoded, *source);
    const Memory* seen = memory ? &*memory : nullptr;
    const auto running = stack.recurrence.make_rows(*exchange, seen);
    std::vector<std::int64_t> offsets;  // [rows]
    for (std::size_t index = 0; index + 1 < exchange->local().offsets.size(); ++index)
      offsets.insert(offsets.end(),
                     static_cast<std::size_t>(exchange->local().offsets[index + 1] - exchange->local().offsets[index]),
                     input.offsets[static_cast<std::size_t>(part.begin) + index]);
    const at::Tensor position = exchange->local().position + at::tensor(offsets, at::kLong);
    output = stack.recurrence.forward(state, position, stack.options.encoder_steps, *running, seen, key, observer);
    loss = stack_loss(output.state, output.cost, input.weights.index_select(0, rows));
  }

  std::shared_ptr<const dist::SequenceExchange> exchange;
  std::shared_ptr<const dist::SequenceExchange> source;
  at::Tensor rows;         // [rows] int64: which of the input's rows these are
  at::Tensor source_rows;  // [source rows] int64: the same of the sources
  at::Tensor state;        // [rows, d]: a leaf
  at::Tensor encoded;      // [source rows, d]: a leaf
  StackOutput output;
  at::Tensor loss;
};

inline std::size_t count_distinct(const at::Tensor& whole_numbers) {
  return static_cast<std::size_t>(std::get<0>(at::_unique(whole_numbers)).numel());
}

/// The first seed from `seed` on with which the stack's own unit gives the input's rows at least so many different
/// numbers of steps. If all rows took as many, mistakes could hide.
inline std::uint64_t seed_of_varied_halting(std::uint64_t seed, std::size_t different, const ModelOptions& options,
                                            bool decoder, const std::vector<std::int64_t>& lengths,
                                            const DropoutKey& key = {}) {
  const at::NoGradGuard no_graph;
  const auto group = dist::make_single_communicator();
  for (;; ++seed) {
    const StackInput input = random_input(seed, lengths, options.d_model);
    const StackPass pass(StandaloneStack(options, decoder, seed), input, input.all(), *group, key);
    if (count_distinct(pass.output.updates) >= different) return seed;
  }
}

/// The result of the definition for one sequence.
struct ReferenceRun {
  StackOutput output;
  std::vector<at::Tensor> states;  // of each step [positions, d]; those of positions halted earlier are copied on
};

/// The definition of act-copy as dense tensor code. Parameters are copies, so that gradients stay apart.
class ActCopyReference {
 public:
  /// Halting probabilities [positions] of a step; empty: the unit's.
  using Dictated = std::function<at::Tensor(std::int64_t step)>;

  explicit ActCopyReference(const StandaloneStack& stack)
      : options_(stack.options), decoder_(stack.decoder), prefix_(stack.decoder ? "decoder." : "encoder.") {
    for (const auto& parameter : stack.parameters.all())
      parameters_[parameter.name] = parameter.tensor.detach().clone().requires_grad_();
  }

  /// `input` [positions, d]; `position` [positions], offset included; `memory` [source positions, d] for a decoder.
  ReferenceRun run(const at::Tensor& input, const at::Tensor& position, const at::Tensor& memory,
                   const Dictated& dictated) const {
    const std::int64_t positions = input.size(0);
    const std::int64_t steps = options_.encoder_steps;
    const at::Tensor position_signal = sinusoid(position, options_.d_model, options_.signal);
    at::Tensor running = at::ones({positions}, at::kBool);
    at::Tensor cumulative = at::zeros({positions}, at::kDouble);
    at::Tensor remainder = at::zeros({positions}, at::kDouble);
    at::Tensor updates = at::zeros({positions}, at::kLong);
    at::Tensor mean = at::zeros_like(input);
    at::Tensor state = input;                              // of a halted position: its mean
    at::Tensor signal = position_signal + step_signal(1);  // of a halted position: that of the step after its last
    ReferenceRun result;
    for (std::int64_t step = 1; step <= steps && running.any().item<bool>(); ++step) {
      const at::Tensor probability = dictated ? dictated(step) : unit(state + signal);
      const at::Tensor stops =
          step == steps ? running : running.logical_and((cumulative + probability).gt(options_.halting.threshold));
      const at::Tensor weight = at::where(stops, 1 - cumulative, probability);
      remainder = at::where(stops, weight, remainder);
      cumulative = at::where(running, cumulative + weight, cumulative);
      updates = updates + running.to(at::kLong);

      state = block(state, signal, running, memory);
      result.states.push_back(state);
      mean = where_rows(running, taken(weight.unsqueeze(1), state, mean), mean);
      state = where_rows(stops, mean, state);
      if (step < steps) signal = where_rows(running, position_signal + step_signal(step + 1), signal);
      running = running.logical_and(stops.logical_not());
    }
    result.output = {options_.norm == Norm::pre ? norm("final_norm", mean) : mean, updates, updates + remainder};
    return result;
  }

  /// After a backward pass; zeros if nothing depends on the parameter.
  at::Tensor gradient(const std::string& name) const {
    const at::Tensor& parameter = parameters_.at(name);
    return parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter);
  }

 private:
  const at::Tensor& parameter(const std::string& name) const { return parameters_.at(prefix_ + name); }

  static at::Tensor where_rows(const at::Tensor& these, const at::Tensor& take, const at::Tensor& others) {
    return at::where(these.unsqueeze(1), take, others);
  }

  at::Tensor step_signal(std::int64_t step) const {
    if (options_.step_signal == StepSignal::learned)
      return parameter("step_signal")[step - 1] * std::sqrt(static_cast<double>(options_.d_model));
    return sinusoid(at::full({1}, step - 1, at::kLong), options_.d_model, options_.signal)[0];
  }

  at::Tensor unit(const at::Tensor& x) const {
    const at::Tensor own = at::sigmoid(at::mv(x, parameter("halting.kernel").squeeze(1)) + parameter("halting.bias"));
    return options_.halting.kind == ActKind::global ? own.mean().expand_as(own) : own;
  }

  at::Tensor taken(const at::Tensor& weight, const at::Tensor& state, const at::Tensor& mean) const {
    if (options_.halting.output == ActOutput::accumulated) return mean + weight * state;
    return weight * state + (1 - weight) * mean;
  }

  at::Tensor norm(const std::string& name, const at::Tensor& x) const {
    const at::Tensor centred = x - x.mean(1, true);
    return centred / (centred.square().mean(1, true) + 1e-6).sqrt() * parameter(name + ".scale") +
           parameter(name + ".bias");
  }

  /// New states of running positions; those of halted positions as they were.
  at::Tensor block(const at::Tensor& state, const at::Tensor& signal, const at::Tensor& running,
                   const at::Tensor& memory) const {
    at::Tensor input = state + signal;
    const at::Tensor begin = options_.residual == Residual::signal_in ? input : state;
    at::Tensor x = begin;
    const auto around = [&](const std::string& name, const at::Tensor& in, const auto& f) {
      const bool pre = options_.norm == Norm::pre;
      const at::Tensor output = pre ? x + f(name, norm(name + ".norm", in)) : norm(name + ".norm", x + f(name, in));
      x = where_rows(running, output, begin);  // others see `begin` of a halted position
    };
    for (std::int64_t number = 0; number < options_.block_layers; ++number) {
      const std::string layer = "layer" + std::to_string(number);
      around(layer + ".self_attention", input,
             [&](const std::string& name, const at::Tensor& in) { return attend_to_self(name, in); });
      if (decoder_)
        around(layer + ".cross_attention", x,
               [&](const std::string& name, const at::Tensor& in) { return attend_to_memory(name, in, memory); });
      around(layer + ".transition", x,
             [&](const std::string& name, const at::Tensor& in) { return transition(name, in); });
      input = x;
    }
    return where_rows(running, x, state);
  }

  at::Tensor attend_to_self(const std::string& name, const at::Tensor& x) const {
    const auto parts = at::mm(x, parameter(name + ".query_key_value")).chunk(3, 1);
    return at::mm(attend(parts[0], parts[1], parts[2], decoder_), parameter(name + ".output"));
  }

  at::Tensor attend_to_memory(const std::string& name, const at::Tensor& x, const at::Tensor& memory) const {
    const auto parts = at::mm(memory, parameter(name + ".key_value")).chunk(2, 1);
    return at::mm(attend(at::mm(x, parameter(name + ".query")), parts[0], parts[1], false),
                  parameter(name + ".output"));
  }

  at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal) const {
    const std::int64_t columns = options_.d_model / options_.heads;
    std::vector<at::Tensor> outputs;
    for (std::int64_t begin = 0; begin < options_.d_model; begin += columns) {
      at::Tensor logits = at::mm(query.narrow(1, begin, columns), key.narrow(1, begin, columns).t()) /
                          std::sqrt(static_cast<double>(columns));
      if (causal)
        logits = logits.masked_fill(at::ones_like(logits, at::kBool).triu(1), -std::numeric_limits<double>::infinity());
      outputs.push_back(at::mm(at::softmax(logits, 1), value.narrow(1, begin, columns)));
    }
    return at::cat(outputs, 1);
  }

  at::Tensor transition(const std::string& name, const at::Tensor& x) const {
    if (options_.transition == TransitionKind::separable_convolution)
      return convolve(name + ".convolution2", 5, at::relu(convolve(name + ".convolution1", 3, x)));
    const at::Tensor hidden = at::relu(at::mm(x, parameter(name + ".kernel1")) + parameter(name + ".bias1"));
    return at::mm(hidden, parameter(name + ".kernel2")) + parameter(name + ".bias2");
  }

  at::Tensor convolve(const std::string& name, std::int64_t width, const at::Tensor& x) const {
    const std::int64_t before = decoder_ ? width - 1 : width / 2;
    const at::Tensor padded = at::constant_pad_nd(x, {0, 0, before, width - 1 - before});
    at::Tensor sum = at::zeros_like(x);
    for (std::int64_t place = 0; place < width; ++place)
      sum = sum + padded.narrow(0, place, x.size(0)) * parameter(name + ".depthwise")[place];
    return at::mm(sum, parameter(name + ".pointwise")) + parameter(name + ".bias");
  }

  ModelOptions options_;
  bool decoder_;
  std::string prefix_;
  std::map<std::string, at::Tensor> parameters_;
};

/// The reference over all sequences of an input, one after the other.
struct ReferencePass {
  ReferencePass(const StandaloneStack& stack, const StackInput& input, const Probability& probability)
      : reference(stack), state(input.state.clone().requires_grad_()), encoded(input.encoded.clone().requires_grad_()) {
    std::vector<at::Tensor> states;
    std::vector<at::Tensor> updates;
    std::vector<at::Tensor> costs;
    const auto sources = encoded.split_with_sizes(input.sources.lengths);
    const auto inputs = state.split_with_sizes(input.sequences.lengths);
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const at::Tensor position = at::arange(input.sequences.lengths[index]);
      ActCopyReference::Dictated dictated;
      if (probability)
        dictated = [&](std::int64_t step) {
          const at::Tensor sequence = at::full_like(position, input.sequences.ids[index]);
          return draw_of(probability)(step, {sequence, position, {0, position.size(0)}});
        };
      runs.push_back(reference.run(inputs[index], position + input.offsets[index], sources[index], dictated));
      states.push_back(runs.back().output.state);
      updates.push_back(runs.back().output.updates);
      costs.push_back(runs.back().output.cost);
    }
    output = {at::cat(states), at::cat(updates), at::cat(costs)};
    loss = stack_loss(output.state, output.cost, input.weights);
  }

  ActCopyReference reference;
  at::Tensor state;    // [rows, d]: a leaf
  at::Tensor encoded;  // [source rows, d]: a leaf
  std::vector<ReferenceRun> runs;
  StackOutput output;
  at::Tensor loss;
};

/// Equal to within 1e-10 times the largest entry, or 1e-10 if that is below 1.
inline void expect_close(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  if (expected.numel() == 0) return;
  const double largest = expected.abs().max().item<double>();
  EXPECT_LE((actual - expected).abs().max().item<double>(), 1e-10 * std::max(1.0, largest)) << what;
}

}  // namespace ut::core
