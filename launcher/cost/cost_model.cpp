#include "launcher/cost/cost_model.h"

#include <algorithm>
#include <cmath>

#include "launcher/cost/collective_cost.h"
#include "launcher/cost/stack_memory.h"
#include "launcher/cost/step_cost.h"
#include "launcher/cost/step_rows.h"
#include "launcher/cost/use_counts.h"
#include "launcher/cost/work_cost.h"

namespace ut::launcher {
namespace {

double busy(const MachineNumbers& machine, std::int64_t ranks_per_node) {
  if (machine.cores_per_node == 0) return 1;
  return std::max(1.0, real(ranks_per_node * machine.threads) / real(machine.cores_per_node));
}

double block_parameters(const core::ModelOptions& model, bool decoder) {
  const double d = real(model.d_model);
  const double ffn = real(model.ffn);
  const bool convolves = model.transition == core::TransitionKind::separable_convolution;
  const double attention = 4 * d * d;
  const double transition = 2 * d * ffn + ffn + d + (convolves ? 3 * d + 5 * ffn : 0);
  return real(model.block_layers) *
         ((decoder && model.has_encoder() ? 2 : 1) * (attention + 2 * d) + transition + 2 * d);
}

/// Adds up the parts of an update.
class UpdateCost {
 public:
  UpdateCost(const Workload& work, const Layout& layout, const MachineNumbers& machine)
      : work_(work),
        layout_(layout),
        machine_(machine),
        number_(work.model.precision == core::Precision::float64 ? 8 : 4),
        work_cost_(machine, busy(machine, layout.ranks_per_node) / busy(machine, machine.ranks_per_node), number_) {}

  Prediction prediction() {
    const core::ModelOptions& model = work_.model;
    if (model.has_encoder()) stack(encoder(model.halting.encoder, model.encoder_steps));
    if (model.has_decoder())
      stack({model.halting.decoder, work_.target_rows, work_.target_rows * work_.length_spread, model.decoder_steps,
             true});
    embedding_and_loss();
    repeat(real(work_.micro_batches));
    optimizer();
    gradients();
    made_.seconds.operations = work_cost_.operations_beside(made_.seconds.products + made_.seconds.attention +
                                                            made_.seconds.element_wise + made_.seconds.optimizer);
    made_.peak_bytes += 4 * parameter_count(model) * number_;  // values, gradients, two moments
    adjust();
    return made_;
  }

 private:
  GivenStack encoder(core::Halting halting, std::int64_t steps) const {
    return {halting, work_.source_rows, work_.source_rows * work_.length_spread, steps, false};
  }

  void stack(const GivenStack& stack) {
    const core::ModelOptions& model = work_.model;
    const bool stored = stack.halting == core::Halting::act_copy;
    const double layers = real(model.block_layers);
    const bool on_host = machine_.cores_per_node > 0;  // otherwise each rank has a device of its own
    const bool again = model.recompute == core::Recompute::step;
    const Prediction before = made_;
    double most_again = 0;
    const StackMemory memory(model, layout_.sequence_parallel, on_host, number_);
    const bool has_memory = stack.decoder && model.has_encoder();
    MemoryRows seen;
    if (has_memory) seen = {work_.source_rows, work_.source_rows * work_.length_spread};
    const auto steps = rows_of_steps(work_, layout_, stack);
    for (const StepRows& step : steps) {
      StepCost cost(model, layout_, on_host, work_cost_, made_.seconds);
      cost.around(step, stack.halting);
      for (std::int64_t layer = 0; layer < model.block_layers; ++layer) {
        const double attention_before = made_.seconds.attention;
        cost.self_attention(step, stored, stack.decoder);
        exchange(step, {made_.seconds.attention - attention_before, stored, stack.decoder});
        if (has_memory) cost.cross_attention(step, seen);
        cost.transition(step);
        if (model.transition == core::TransitionKind::separable_convolution) bring_neighbours(step);
      }
      if (stack.halting != core::Halting::none) agree_on_who_goes_on();
      sum_gradients_over_steps(stack.decoder);
      const double whole = layers * memory.layer(step, stored, seen);
      made_.peak_bytes += again ? memory.kept(step) : whole;
      most_again = std::max(most_again, whole);
    }
    if (again) made_.peak_bytes += 1.5 * most_again;  // what is made again, with its gradients
    if (again) go_forward_twice(before);
    if (stored) made_.peak_bytes += layers * memory.store(steps.front());
    if (has_memory) remember(model.block_layers);
  }

  /// Adds a forward pass to what the stack has added since `before`, which is a forward pass and twice that backward.
  void go_forward_twice(const Prediction& before) {
    Seconds& now = made_.seconds;
    for (const auto part : {&Seconds::products, &Seconds::attention, &Seconds::element_wise})
      now.*part += (now.*part - before.seconds.*part) / 3;
    now.exchange += (now.exchange - before.seconds.exchange) / 2;
    made_.exchanged_bytes += (made_.exchanged_bytes - before.exchanged_bytes) / 2;
  }

  /// Scales the parts to what whole updates were measured to take.
  void adjust() {
    Seconds& seconds = made_.seconds;
    for (double* part : {&seconds.products, &seconds.attention, &seconds.element_wise, &seconds.operations})
      *part *= machine_.overhead;
    const double work = seconds.products + seconds.attention + seconds.element_wise + seconds.operations;
    if (layout_.sequence_parallel > 1) seconds.exchange += machine_.unevenness * work;
  }

  /// The parameters' gradients of each step are added to those of the steps before.
  void sum_gradients_over_steps(bool decoder) {
    const double block = block_parameters(work_.model, decoder);
    work_cost_.add_element_wise(block, uses::sums_of_gradients, made_.seconds.element_wise);
    work_cost_.operations(decoder ? operation_counts::decoder_gradients : operation_counts::encoder_gradients);
  }

  void agree_on_who_goes_on() {
    if (layout_.sequence_parallel > 1) made_.seconds.exchange += group().gather_seconds(1);
  }

  void exchange(const StepRows& step, const AttentionOfLayer& attention) {
    if (layout_.sequence_parallel == 1) return;
    const double rows = (step.rows + step.copied) * real(layout_.sequence_parallel);
    const ExchangeCost cost = exchange_cost(layout_, group(), rows * real(work_.model.d_model) * number_,
                                            work_.model.heads, attention, machine_.overlap);
    made_.seconds.exchange += cost.exposed_seconds;
    made_.seconds.attention += attention.seconds * (cost.attention_factor - 1);
    made_.exchanged_bytes += cost.sent_bytes_of_rank * real(layout_.ranks());
    work_cost_.operations(cost.operations);
  }

  /// The rows beside a rank's own that convolutions look at, and their gradients.
  void bring_neighbours(const StepRows& step) {
    if (layout_.sequence_parallel == 1) return;
    constexpr double beside = 2 + 4;  // positions, of filters of widths 3 and 5
    const double rows = step.sequences * beside;
    const double bytes = rows * real(work_.model.ffn + work_.model.d_model) / 2 * number_;
    constexpr double times = 4;  // two filters, forward and backward
    made_.seconds.exchange += times * group().gather_seconds(bytes / times);
    made_.exchanged_bytes += 2 * bytes * real(layout_.ranks());
  }

  /// Projects the encoder's states, once, to the keys and values that the decoder attends to.
  void remember(std::int64_t layers) {
    const StepRows source = rows_of_steps(work_, layout_, encoder(core::Halting::none, 1)).front();
    const double d = real(work_.model.d_model);
    const double sharing = real(layout_.sequence_parallel);
    const bool of_states = sharing > 1 && layout_.exchange.sent == dist::Sent::states;
    for (std::int64_t layer = 0; layer < layers; ++layer)
      work_cost_.product(source.rows * (of_states ? sharing : 1), d, 2 * d, 3, made_.seconds.products);
    if (sharing == 1) return;
    const double gathers = of_states ? 1 : real(layers);  // states are brought once for all layers
    const double bytes = source.rows * sharing * (of_states ? 1 : 2) * d * number_;
    made_.seconds.exchange += gathers * (group().gather_seconds(bytes) + group().reduce_scatter_seconds(bytes));
    made_.exchanged_bytes += gathers * 2 * bytes * (sharing - 1) / sharing * real(layout_.ranks());
  }

  /// Embedding, symbols' scores and loss.
  void embedding_and_loss() {
    const core::ModelOptions& model = work_.model;
    const double ranks = real(layout_.ranks());
    const double labels = std::ceil(real(work_.sequences * work_.labels_per_sequence) / ranks);
    const double vocabulary = real(model.vocabulary);
    const double rows = std::ceil(real(work_.sequences) * (work_.source_rows + work_.target_rows) / ranks);
    double& part = made_.seconds.element_wise;
    work_cost_.product(labels, real(model.d_model), vocabulary, 3, made_.seconds.products);
    work_cost_.exponentials(2 * labels * vocabulary, part);
    work_cost_.add_element_wise(labels * vocabulary, uses::scores, part);
    work_cost_.add_element_wise(rows * real(model.d_model), uses::embedded, part);
    work_cost_.add_element_wise(vocabulary * real(model.d_model), uses::table, part);
    work_cost_.operations(operation_counts::embedding_and_loss);
    made_.peak_bytes += labels * vocabulary * number_;
  }

  void repeat(double times) {
    Seconds& seconds = made_.seconds;
    for (double* part : {&seconds.products, &seconds.attention, &seconds.element_wise, &seconds.exchange})
      *part *= times;
    made_.exchanged_bytes *= times;
    work_cost_.repeat(times);
  }

  void optimizer() {
    work_cost_.add_element_wise(parameter_count(work_.model), uses::optimizer, made_.seconds.optimizer);
    work_cost_.operations(operation_counts::optimizer);
  }

  void gradients() {
    const CollectiveCost world(machine_, layout_.ranks(), layout_.ranks_per_node);
    made_.seconds.gradients = world.all_reduce_seconds(parameter_count(work_.model) * number_);
  }

  CollectiveCost group() const { return {machine_, layout_.sequence_parallel, layout_.ranks_per_node}; }

  const Workload& work_;
  const Layout& layout_;
  const MachineNumbers& machine_;
  double number_;  // bytes of a number
  WorkCost work_cost_;
  Prediction made_;
};

}  // namespace

double parameter_count(const core::ModelOptions& model) {
  const double d = real(model.d_model);
  if (model.kind == core::ModelKind::lstm) {
    const double stacks = model.architecture == core::Architecture::encoder_decoder ? 2 : 1;
    return real(model.vocabulary) * d + stacks * real(model.lstm_layers) * 8 * d * d;  // biases and attention left out
  }
  const auto stack = [&](bool decoder, core::Halting halting, std::int64_t steps) {
    return block_parameters(model, decoder) + (model.norm == core::Norm::pre ? 2 * d : 0) +
           (model.step_signal == core::StepSignal::learned ? real(steps) * d : 0) +
           (halting != core::Halting::none && model.halting.kind != core::ActKind::random ? d + 1 : 0);
  };
  const double table = real(model.vocabulary) * d + (model.words_per_row > 1 ? real(model.words_per_row) * d : 0);
  return table + (model.has_encoder() ? stack(false, model.halting.encoder, model.encoder_steps) : 0) +
         (model.has_decoder() ? stack(true, model.halting.decoder, model.decoder_steps) : 0);
}

std::int64_t table_parameters(const core::ModelOptions& model) { return model.vocabulary * model.d_model; }

bool is_possible(const Workload& work, const Layout& layout) {
  const std::int64_t shared = layout.sequence_parallel;
  return layout.ranks() % shared == 0 && shared <= work.longest &&
         (layout.exchange.form != dist::ExchangeForm::heads || shared <= work.model.heads);
}

Prediction predict(const Workload& work, const Layout& layout, const MachineNumbers& machine) {
  Prediction made = UpdateCost(work, layout, machine).prediction();
  if (layout.ranks() == 1) return made;
  const Prediction alone = UpdateCost(work, Layout{}, machine).prediction();
  made.efficiency = alone.seconds.total() / (real(layout.ranks()) * made.seconds.total());
  return made;
}

}  // namespace ut::launcher
