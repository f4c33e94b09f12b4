// Halting mode act-copy against a dense reference that follows its definition, and what it promises for every row.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "tests/core/act_copy_reference.h"

namespace ut::core {
namespace {

using Row = std::pair<std::int64_t, std::int64_t>;  // (sequence, position)

std::vector<Row> identities(const dist::Rows& rows) {
  std::vector<Row> result;
  for (std::int64_t row = 0; row < rows.count(); ++row)
    result.emplace_back(rows.sequence[row].item<std::int64_t>(), rows.position[row].item<std::int64_t>());
  return result;
}

std::string name_of(const ModelOptions& options) {
  return fmt::format("{}, {}, {}, {} layers, {} steps", options.norm == Norm::post ? "post" : "pre",
                     options.residual == Residual::signal_out ? "signal-out" : "signal-in",
                     options.halting.output == ActOutput::accumulated ? "accumulated" : "interpolated",
                     options.block_layers, options.step_signal == StepSignal::sinusoid ? "sinusoid" : "learned");
}

const auto kinds = testing::Values(
    StackKind{false, TransitionKind::feed_forward}, StackKind{false, TransitionKind::separable_convolution},
    StackKind{true, TransitionKind::feed_forward}, StackKind{true, TransitionKind::separable_convolution});

class ActCopy : public testing::TestWithParam<StackKind> {
 protected:
  ActCopy() { options_.transition = GetParam().transition; }

  /// Calls check() for each form of a stack. Half of the forms, spread over every option, have learned step signals.
  template <class Check>
  void for_forms(const Check& check) {
    unsigned form = 0;
    for (const std::int64_t block_layers : {1, 2})
      for (const Norm norm : {Norm::post, Norm::pre})
        for (const Residual residual : {Residual::signal_out, Residual::signal_in})
          for (const ActOutput output : {ActOutput::accumulated, ActOutput::interpolated}) {
            options_.block_layers = block_layers;
            options_.norm = norm;
            options_.residual = residual;
            options_.halting.output = output;
            options_.step_signal = std::popcount(form++) % 2 == 0 ? StepSignal::sinusoid : StepSignal::learned;
            SCOPED_TRACE(name_of(options_));
            check();
          }
  }

  /// For the next seed's input and parameters; `probability` decides halting, or the unit if it is empty.
  void expect_reference(const std::vector<std::int64_t>& lengths, const Probability& probability = {}) {
    ++seed_;
    SCOPED_TRACE(fmt::format("draw {}", seed_));
    const StackInput input = random_input(seed_, lengths, options_.d_model);
    const StandaloneStack stack(options_, GetParam().decoder, seed_, probability);
    const StackPass pass(stack, input, input.all(), *group_);
    const ReferencePass expected(stack, input, probability);
    expect_close(pass.output.state, expected.output.state, "outputs");
    EXPECT_TRUE(pass.output.updates.equal(expected.output.updates)) << "updates";
    expect_close(pass.output.cost, expected.output.cost, "costs");
    pass.loss.backward();
    expected.loss.backward();
    expect_close(pass.state.grad(), expected.state.grad(), "gradient of the input");
    if (stack.decoder) expect_close(pass.encoded.grad(), expected.encoded.grad(), "gradient of the memory");
    for (const auto& parameter : stack.parameters.all())
      expect_close(parameter.tensor.grad(), expected.reference.gradient(parameter.name), parameter.name);
  }

  /// The same with a seed for which the unit gives rows at least so many different numbers of steps.
  void expect_reference_of_unit(std::size_t different, const std::vector<std::int64_t>& lengths) {
    seed_ = seed_of_varied_halting(seed_ + 1, different, options_, GetParam().decoder, lengths) - 1;
    expect_reference(lengths);
  }

  ModelOptions options_ = act_copy_options();
  std::int64_t steps_ = options_.encoder_steps;
  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
  std::uint64_t seed_ = 0;
};

TEST_P(ActCopy, EqualsTheReferenceWhereTheUnitDecides) {
  for_forms([&] { expect_reference_of_unit(3, {5, 1, 4}); });
}

TEST_P(ActCopy, EqualsTheReferenceWhereSequencesDecide) {
  options_.halting.kind = ActKind::global;
  options_.block_layers = 2;
  for (const Norm norm : {Norm::post, Norm::pre}) {
    options_.norm = norm;
    expect_reference_of_unit(2, {3, 1, 5, 2});
  }
}

TEST_P(ActCopy, EqualsTheReferenceWhereRowsHaltAtRandom) {
  const std::vector<std::vector<std::int64_t>> draws{{6}, {2, 5}, {4, 1, 3}, {1, 1, 7}};
  for_forms([&] {
    const auto seed = static_cast<std::int64_t>(seed_);
    expect_reference(draws[seed_ % draws.size()], halting_at(random_last_step(seed, steps_)));
  });
}

TEST_P(ActCopy, EqualsTheReferenceAtTheEdges) {
  const std::vector<std::pair<std::string, LastStep>> patterns{
      {"all at step 1", [](auto, auto) { return 1; }},
      {"none before the limit", [this](auto, auto) { return steps_ + 1; }},
      {"all but one row of each sequence at step 1",
       [this](auto, auto position) { return position == 0 ? steps_ : 1; }},
      {"the second sequence before the others",
       [](auto sequence, auto position) {
         return StackInput::index_of(sequence) == 1 ? 1 + position % 2 : 3 + position % 2;
       }},
      {"one after the other", [](auto, auto position) { return position + 1; }},
      {"one after the other, from the last", [this](auto, auto position) { return steps_ - position; }}};
  for (const auto& [name, last] : patterns)
    for (const Norm norm : {Norm::post, Norm::pre}) {
      options_.norm = norm;
      options_.residual = norm == Norm::pre ? Residual::signal_in : Residual::signal_out;
      options_.block_layers = 2;
      SCOPED_TRACE(fmt::format("{}; {}", name, name_of(options_)));
      expect_reference({4, 3, 1}, halting_at(last));
    }
}

class ActCopyGradient : public ActCopy {
 protected:
  ActCopyGradient() {
    options_.block_layers = 2;
    options_.norm = Norm::pre;
    seed_ = seed_of_varied_halting(1, 3, options_, GetParam().decoder, lengths_, key_);
    input_ = random_input(seed_, lengths_, options_.d_model);
  }

  /// A stack's pass with dropout. Dropout is a pure function of its key, so this loss has a derivative like any other.
  StackPass pass(const StandaloneStack& stack) const { return {stack, input_, input_.all(), *group_, key_}; }

  /// The loss after the parameters have moved along `direction` [elements].
  double moved_loss(const StandaloneStack& stack, const at::Tensor& direction, double distance) const {
    const at::NoGradGuard no_graph;
    const at::Tensor parameters = stack.parameters.flat();
    const at::Tensor before = parameters.clone();
    parameters.add_(direction, distance);
    const double loss = pass(stack).loss.item<double>();
    parameters.copy_(before);
    return loss;
  }

  std::vector<std::int64_t> lengths_{5, 1, 3};
  DropoutKey key_ = DropoutKey::for_update(1, 2);
  StackInput input_;
};

TEST_P(ActCopyGradient, EqualsCentralDifferencesWithDropoutOn) {
  const StandaloneStack stack(options_, GetParam().decoder, seed_);
  pass(stack).loss.backward();
  std::uint64_t seed = 0;
  const at::Tensor elements = at::arange(stack.parameters.elements());
  for (const auto& part : views_of(elements, stack.parameters.all())) {
    const at::Tensor direction =
        at::zeros({stack.parameters.elements()}, at::kDouble)
            .index_copy(0, part.tensor.flatten(), random_tensor({part.tensor.numel()}, ++seed));
    const double analytic = (stack.parameters.flat_gradient() * direction).sum().item<double>();
    constexpr double distance = 2e-6;  // so small that no ReLU passes its corner
    const double numeric =
        (moved_loss(stack, direction, distance) - moved_loss(stack, direction, -distance)) / (2 * distance);
    EXPECT_NEAR(analytic, numeric, 1e-6 * std::abs(numeric) + 1e-8) << part.name;
    EXPECT_GT(std::abs(analytic), 1e-5) << part.name << ": too small to say anything";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ActCopyGradient, kinds, [](const auto& kind) { return name_of(kind.param); });
INSTANTIATE_TEST_SUITE_P(Kinds, ActCopy, kinds, [](const auto& kind) { return name_of(kind.param); });

/// The patent's figure 5. A halting step is the last at which a position is revised: 2 for position 4, 4 for position
/// 1, 5 for position 3. At step 6 position 2 alone is revised, from the states with which the others halted.
TEST(ActCopyFigure5, RevisesPositionTwoAloneInTheEnd) {
  ModelOptions options = act_copy_options();
  options.encoder_steps = 8;
  const std::vector<std::int64_t> halting_steps{4, 6, 5, 2};
  const Probability probability =
      halting_at([&](auto, auto position) { return halting_steps[static_cast<std::size_t>(position)]; });
  const StackInput input = random_input(5, {4}, options.d_model);
  const StandaloneStack stack(options, false, 5, probability);
  std::vector<std::int64_t> computed;  // rows in each step
  std::vector<Row> last_rows;
  at::Tensor last_state;
  const auto group = dist::make_single_communicator();
  const auto step_made = [&](std::int64_t step, const dist::Rows& rows, const at::Tensor& state, const HaltingState*,
                             const at::Tensor&) {
    computed.push_back(rows.count());
    EXPECT_EQ(step, static_cast<std::int64_t>(computed.size()));
    EXPECT_EQ(state.size(0), rows.count());
    last_rows = identities(rows);
    last_state = state;
  };
  const StackPass pass(stack, input, input.all(), *group, {}, StepObserver{step_made, {}});
  EXPECT_EQ(computed, (std::vector<std::int64_t>{4, 4, 3, 3, 2, 1}));
  EXPECT_EQ(last_rows, (std::vector<Row>{{input.sequences.ids[0], 1}}));
  EXPECT_TRUE(pass.output.updates.equal(at::tensor(halting_steps, at::kLong)));
  const ReferencePass expected(stack, input, probability);
  const auto& states = expected.runs[0].states;
  ASSERT_EQ(states.size(), 6U);
  expect_close(last_state, states[5].narrow(0, 1, 1), "position 2 at step 6");
  expect_close(pass.output.state, expected.output.state, "outputs");
}

/// Keeps what a stack's observer was told about each row.
class ActCopyRows : public testing::TestWithParam<std::tuple<Halting, ActOutput, Precision>> {
 protected:
  struct ObservedRow {
    std::int64_t steps = 0;
    double weights = 0;
    bool running = true;
    at::Tensor mean;  // when it halted
  };

  ActCopyRows() {
    options_.halting.encoder = std::get<0>(GetParam());
    options_.halting.output = std::get<1>(GetParam());
    options_.precision = std::get<2>(GetParam());
  }

  bool copies() const { return options_.halting.encoder == Halting::act_copy; }

  void watch(std::int64_t step, const dist::Rows& rows, const HaltingState& ponder) {
    const auto row_names = identities(rows);
    for (std::size_t row = 0; row < row_names.size(); ++row) {
      const auto place = static_cast<std::int64_t>(row);
      ObservedRow& observed = observed_[row_names[row]];
      observed.weights += ponder.weight()[place].item<double>();
      EXPECT_TRUE(observed.running || !copies()) << "revised after it has halted";
      if (!observed.running) continue;
      observed.steps = step;
      observed.running = ponder.running()[place].item<bool>();
      observed.mean = ponder.mean()[place].clone();
    }
  }

  /// Observes a stack's pass, then calls check(observed, row, output) for each of its rows.
  template <class Check>
  void for_rows(const Probability& probability, const Check& check) {
    const StackInput input = random_input(3, {5, 1, 4, 2}, options_.d_model);
    const StandaloneStack stack(options_, false, 7, probability);
    observed_.clear();
    const auto group = dist::make_single_communicator();
    const auto step_made = [&](std::int64_t step, const dist::Rows& rows, const at::Tensor&, const HaltingState* ponder,
                               const at::Tensor&) { watch(step, rows, *ponder); };
    const StackPass pass(stack, input, input.all(), *group, {}, StepObserver{step_made, {}});
    const auto rows = identities(pass.exchange->local());
    for (std::size_t row = 0; row < rows.size(); ++row)
      check(observed_.at(rows[row]), static_cast<std::int64_t>(row), pass.output);
  }

  /// The same for the unit's halting and for dictated halting.
  template <class Check>
  void for_patterns(const Check& check) {
    for_rows({}, check);
    for (const std::int64_t seed : {1, 2, 3}) for_rows(halting_at(random_last_step(seed, steps_)), check);
  }

  ModelOptions options_ = act_copy_options();
  std::int64_t steps_ = options_.encoder_steps;
  std::map<Row, ObservedRow> observed_;
};

TEST_P(ActCopyRows, HaveWeightsThatSumToOne) {
  int halted = 0;
  for_patterns([&](const ObservedRow& observed, std::int64_t, const StackOutput&) {
    EXPECT_TRUE(!observed.running || !copies());
    if (observed.running)
      EXPECT_LE(observed.weights, options_.halting.threshold);  // at the limit: the papers drop the remaining weight
    else
      EXPECT_NEAR(observed.weights, 1, 1e-12);
    halted += observed.running ? 0 : 1;
  });
  EXPECT_GT(halted, 0);
}

TEST_P(ActCopyRows, TakeAtMostAllSteps) {
  for_patterns([&](const ObservedRow& observed, std::int64_t row, const StackOutput& output) {
    const auto updates = output.updates[row].item<std::int64_t>();
    EXPECT_EQ(updates, observed.steps);
    EXPECT_LE(updates, steps_);
    EXPECT_GE(updates, 1);
  });
}

/// In post-norm, in which no normalisation follows the stack.
TEST_P(ActCopyRows, KeepTheirBitsOnceHalted) {
  for_patterns([&](const ObservedRow& observed, std::int64_t row, const StackOutput& output) {
    EXPECT_TRUE(output.state[row].equal(observed.mean)) << "row " << row;
  });
}

INSTANTIATE_TEST_SUITE_P(Forms, ActCopyRows,
                         testing::Combine(testing::Values(Halting::act, Halting::act_copy),
                                          testing::Values(ActOutput::accumulated, ActOutput::interpolated),
                                          testing::Values(Precision::float32, Precision::float64)),
                         [](const auto& form) {
                           return fmt::format(
                               "{}{}{}", std::get<0>(form.param) == Halting::act ? "Act" : "ActCopy",
                               std::get<1>(form.param) == ActOutput::accumulated ? "Accumulated" : "Interpolated",
                               std::get<2>(form.param) == Precision::float32 ? "Float32" : "Float64");
                         });

}  // namespace
}  // namespace ut::core
