#include "launcher/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/row_attention.h"
#include "launcher/collective_cost.h"
#include "launcher/ponder_shares.h"
#include "launcher/work_cost.h"

namespace ut::launcher {
namespace {

double real(std::int64_t number) { return static_cast<double>(number); }

double rounded_up(std::int64_t a, std::int64_t b) { return real((a + b - 1) / b); }

/// Rows that a rank revises in one step of a stack.
struct StepRows {
  double rows = 0;          // of this rank
  double copied = 0;        // whose keys and values it makes once more, as they have halted
  double sequences = 0;     // of which it has rows
  double queries = 0;       // slots a sequence: the most rows that one has
  double keys = 0;          // slots a sequence
  bool some_leave = false;  // after this step
};

/// What a stack is given.
struct GivenStack {
  core::Halting halting;
  double length;  // of a sequence, the mean
  std::int64_t steps;
  bool decoder;
};

/// Rows of each step of a stack, on the rank with most.
std::vector<StepRows> rows_of_steps(const Workload& work, const Layout& layout, const GivenStack& stack) {
  const double data_parallel = real(layout.ranks() / layout.sequence_parallel);
  const double sequences = std::ceil(real(work.sequences) / data_parallel);
  const double share = std::ceil(stack.length / real(layout.sequence_parallel));
  const double slots = rounded_up(work.longest, layout.sequence_parallel);
  const StepRows whole{sequences * share, 0, sequences, slots, real(work.longest)};
  if (stack.halting == core::Halting::none) return {static_cast<std::size_t>(stack.steps), whole};
  const double mean = work.ponder > 0 ? work.ponder : std::max(1.0, real(stack.steps) / 2);
  const std::vector<double> shares = ponder_shares(mean, stack.steps);
  std::vector<StepRows> steps;
  double running = 1;
  for (std::size_t step = 0; step < shares.size() && running * sequences * stack.length >= 0.5; ++step) {
    StepRows now = whole;
    if (stack.halting == core::Halting::act_copy) {
      const double spread = 2 * share * running * (1 - running) * std::log(std::max(2.0, sequences));
      now.rows *= running;
      now.queries = std::min(slots, share * running + std::sqrt(spread));
      now.sequences *= 1 - std::pow(1 - std::min(1.0, running), share);
      now.some_leave = shares[step] * whole.rows >= 0.5 && running - shares[step] > 0;
      now.copied = step == 0 ? 0 : whole.rows * shares[step - 1] * now.sequences / sequences;
    }
    steps.push_back(now);
    running -= shares[step];
  }
  return steps;
}

/// How a layer of a step is computed: what stands in the code of core/, by its tensors read and written. Forward and
/// backward together.
class StepCost {
 public:
  /// `in_place`: attention over rows as they stand, block by block; else over heads' slots.
  StepCost(const core::ModelOptions& model, const Layout& layout, bool in_place, WorkCost& cost, Seconds& seconds)
      : model_(model), layout_(layout), in_place_(in_place), cost_(cost), seconds_(seconds), d_(real(model.d_model)) {}

  /// Signals, and where it halts the books of weights and states.
  void around(const StepRows& step, core::Halting halting) {
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

  void self_attention(const StepRows& step, bool stored, bool causal) {
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

  /// `memory`: source positions of a sequence.
  void cross_attention(const StepRows& step, double memory) {
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

  void transition(double rows) {
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

 private:
  void product(double rows, double inner, double columns) {
    cost_.product(rows, inner, columns, 3, seconds_.products);  // one forward, two backward
  }
  void touch(double elements, double times) { cost_.touch(elements, times, seconds_.element_wise); }
  /// Numbers are drawn and multiplied by, and once more on the way back.
  void dropout(double elements, double rate, double& part) {
    if (rate == 0) return;
    cost_.random_numbers(2 * elements, part);
    cost_.touch(elements, 4, part);
    cost_.operations(4);
  }
  /// Queries, results and so many keys and values go to their heads' places, and on the way back again.
  void move_heads(const StepRows& step, double keys_values) {
    const double rows = step.sequences * step.queries + step.rows + keys_values;
    cost_.row_moves(2 * rows * real(model_.heads), seconds_.element_wise);
  }
  /// Dropout, sum, norm, and what comes back through both ways.
  void residual(double rows) {
    dropout(rows * d_, model_.residual_dropout, seconds_.element_wise);
    touch(rows * d_, 14);
  }
  /// Weights are made twice, blocks of them behind a causal mask never.
  void attention_in_place(const StepRows& step, bool causal) {
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
  void attention(const StepRows& step, bool stored, bool biased) {
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

  const core::ModelOptions& model_;
  const Layout& layout_;
  bool in_place_;
  WorkCost& cost_;
  Seconds& seconds_;
  double d_;
};

/// Bytes that a step's graph keeps until the backward pass, and what a stack keeps once.
class StackMemory {
 public:
  StackMemory(const core::ModelOptions& model, std::int64_t sequence_parallel, bool in_place, double number_bytes)
      : model_(model),
        sharing_(real(sequence_parallel)),
        in_place_(in_place),
        number_(number_bytes),
        d_(real(model.d_model)) {}

  /// Where whole steps are made again, what is kept until then.
  double kept(const StepRows& step, bool stored) const { return step.rows * d_ * (stored ? 6 : 1) * number_; }

  double layer(const StepRows& step, bool stored, double memory_keys) const {
    const double row = d_ * 6 + real(model_.ffn);
    double numbers = step.rows * row + attention(step, stored);
    const double keys_values = stored ? (step.rows + step.copied) * sharing_ : step.sequences * step.keys;
    numbers += keys_values * 2 * d_;
    if (memory_keys > 0) {
      StepRows over = step;
      over.keys = memory_keys;
      numbers += step.rows * d_ * 4 + attention(over, false);
      if (!in_place_) numbers += step.sequences * memory_keys * 2 * d_;
    }
    return numbers * number_;
  }
  /// Of a layer, where keys and values are kept in place: they and their gradients.
  double store(const StepRows& first) const { return 4 * first.sequences * first.keys * d_ * number_; }

 private:
  static bool dropped(double rate) { return rate > 0; }
  double attention(const StepRows& step, bool stored) const {
    if (in_place_ || model_.recompute != core::Recompute::none) return step.rows * real(model_.heads);
    const double weights = step.sequences * real(model_.heads) * step.queries * step.keys;
    return weights * (!stored && dropped(model_.attention_dropout) ? 2 : 1);
  }

  const core::ModelOptions& model_;
  double sharing_;  // ranks that share a sequence
  bool in_place_;
  double number_;
  double d_;
};

double busy(const MachineNumbers& machine, std::int64_t ranks_per_node) {
  if (machine.cores_per_node == 0) return 1;
  return std::max(1.0, real(ranks_per_node * machine.threads) / real(machine.cores_per_node));
}

bool has_encoder(const core::ModelOptions& model) { return model.architecture != core::Architecture::decoder; }
bool has_decoder(const core::ModelOptions& model) { return model.architecture != core::Architecture::encoder; }

double block_parameters(const core::ModelOptions& model, bool decoder) {
  const double d = real(model.d_model);
  const double ffn = real(model.ffn);
  const bool convolves = model.transition == core::TransitionKind::separable_convolution;
  const double attention = 4 * d * d;
  const double transition = 2 * d * ffn + ffn + d + (convolves ? 3 * d + 5 * ffn : 0);
  return real(model.block_layers) *
         ((decoder && has_encoder(model) ? 2 : 1) * (attention + 2 * d) + transition + 2 * d);
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
    if (has_encoder(model)) stack({model.halting.encoder, work_.source_rows, model.encoder_steps, false});
    if (has_decoder(model)) stack({model.halting.decoder, work_.target_rows, model.decoder_steps, true});
    ends();
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
  void stack(const GivenStack& stack) {
    const core::ModelOptions& model = work_.model;
    const bool stored = stack.halting == core::Halting::act_copy;
    const double layers = real(model.block_layers);
    const bool in_place = machine_.cores_per_node > 0;  // else a device of its own
    const bool again = model.recompute == core::Recompute::step;
    const Seconds before = made_.seconds;
    double most_again = 0;
    const StackMemory memory(model, layout_.sequence_parallel, in_place, number_);
    const bool has_memory = stack.decoder && has_encoder(model);
    const double memory_keys = has_memory ? real(work_.longest) : 0;
    const auto steps = rows_of_steps(work_, layout_, stack);
    for (const StepRows& step : steps) {
      StepCost cost(model, layout_, in_place, work_cost_, made_.seconds);
      cost.around(step, stack.halting);
      for (std::int64_t layer = 0; layer < model.block_layers; ++layer) {
        const double attention_before = made_.seconds.attention;
        cost.self_attention(step, stored, stack.decoder);
        exchange(step, {made_.seconds.attention - attention_before, stored, stack.decoder});
        if (has_memory) cost.cross_attention(step, memory_keys);
        cost.transition(step.rows);
      }
      if (stack.halting != core::Halting::none) agree_on_who_goes_on();
      sum_gradients_over_steps(stack.decoder);
      const double whole = layers * memory.layer(step, stored, memory_keys);
      made_.peak_bytes += again ? memory.kept(step, stored) : whole;
      most_again = std::max(most_again, whole);
    }
    if (again) made_.peak_bytes += 1.5 * most_again;  // with the gradients of what is made
    if (again) go_forward_twice(before);
    if (stored) made_.peak_bytes += layers * memory.store(steps.front());
    if (has_memory) remember(model.block_layers);
  }

  /// What a stack has added since: a forward pass to one there and two back.
  void go_forward_twice(const Seconds& before) {
    Seconds& now = made_.seconds;
    for (const auto part : {&Seconds::products, &Seconds::attention, &Seconds::element_wise})
      now.*part += (now.*part - before.*part) / 3;
    now.exchange += (now.exchange - before.exchange) / 2;
  }

  /// By what a whole update was seen to take more.
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
    work_cost_.touch(block, 3, made_.seconds.element_wise);
    work_cost_.operations(decoder ? 16 : 10);
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

  /// The encoder's states become the decoder's memory, once.
  void remember(std::int64_t layers) {
    const auto source = rows_of_steps(work_, layout_, {core::Halting::none, work_.source_rows, 1, false}).front();
    const double d = real(work_.model.d_model);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      work_cost_.product(source.rows, d, 2 * d, 3, made_.seconds.products);
      if (layout_.sequence_parallel == 1) continue;
      const double bytes = source.rows * real(layout_.sequence_parallel) * 2 * d * number_;
      made_.seconds.exchange += group().gather_seconds(bytes) + group().reduce_scatter_seconds(bytes);
    }
  }

  /// Embedding, symbols' scores and loss.
  void ends() {
    const core::ModelOptions& model = work_.model;
    const double ranks = real(layout_.ranks());
    const double labels = std::ceil(real(work_.sequences * work_.labels_per_sequence) / ranks);
    const double vocabulary = real(model.vocabulary);
    const double rows = std::ceil(real(work_.sequences) * (work_.source_rows + work_.target_rows) / ranks);
    double& part = made_.seconds.element_wise;
    work_cost_.product(labels, real(model.d_model), vocabulary, 3, made_.seconds.products);
    work_cost_.exponentials(2 * labels * vocabulary, part);
    work_cost_.touch(labels * vocabulary, 14, part);
    work_cost_.touch(rows * real(model.d_model), 10, part);
    work_cost_.touch(vocabulary * real(model.d_model), 6, part);
    work_cost_.operations(250);
    made_.peak_bytes += 3 * labels * vocabulary * number_;
  }

  void repeat(double times) {
    Seconds& seconds = made_.seconds;
    for (double* part : {&seconds.products, &seconds.attention, &seconds.element_wise, &seconds.exchange})
      *part *= times;
    made_.exchanged_bytes *= times;
    work_cost_.repeat(times);
  }

  void optimizer() {
    work_cost_.touch(parameter_count(work_.model), 24, made_.seconds.optimizer);
    work_cost_.operations(14);
  }

  void gradients() {
    const CollectiveCost world(machine_, layout_.ranks(), layout_.ranks_per_node);
    made_.seconds.gradients = world.all_reduce_seconds(parameter_count(work_.model) * number_);
  }

  CollectiveCost group() const { return {machine_, layout_.sequence_parallel, layout_.ranks_per_node}; }

  const Workload& work_;
  const Layout& layout_;
  const MachineNumbers& machine_;
  double number_;  // bytes
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
  return table + (has_encoder(model) ? stack(false, model.halting.encoder, model.encoder_steps) : 0) +
         (has_decoder(model) ? stack(true, model.halting.decoder, model.decoder_steps) : 0);
}

std::string why_impossible(const Workload& work, const Layout& layout) {
  const std::int64_t shared = layout.sequence_parallel;
  if (layout.ranks() % shared != 0) return fmt::format("{} does not divide {} ranks", shared, layout.ranks());
  if (shared > work.longest) return fmt::format("sequences have fewer than {} positions", shared);
  if (layout.exchange.form == dist::ExchangeForm::heads && shared > work.model.heads)
    return fmt::format("{} ranks cannot share {} heads", shared, work.model.heads);
  return "";
}

Prediction predict(const Workload& work, const Layout& layout, const MachineNumbers& machine) {
  Prediction made = UpdateCost(work, layout, machine).prediction();
  if (layout.ranks() == 1) return made;
  const Prediction alone = UpdateCost(work, Layout{}, machine).prediction();
  made.efficiency = alone.seconds.total() / (real(layout.ranks()) * made.seconds.total());
  return made;
}

}  // namespace ut::launcher
