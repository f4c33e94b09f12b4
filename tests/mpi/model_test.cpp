// The whole model over every mesh that the ranks allow, against one rank that holds everything.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/decoding.h"
#include "core/optimizer.h"
#include "dist/gradient_synchronisation.h"
#include "dist/mesh.h"
#include "dist/staging.h"
#include "tests/core/model_parts.h"
#include "tests/core/random_batch.h"
#include "tests/mpi/stand_in_device.h"
#include "tests/mpi/world.h"

namespace ut::core {
namespace {

using Examples = std::vector<ExampleSequence>;

using MakeWorld = std::unique_ptr<dist::Communicator> (*)();

/// All ranks, each with a stand-in device.
std::unique_ptr<dist::Communicator> world_of_devices() {
  return dist::make_staged_communicator(tests::world(), tests::stand_in_device_staging());
}

/// Calls check(mesh) for every mesh of the ranks.
template <class Check>
void for_meshes(const Check& check, MakeWorld make_world = tests::world) {
  const int ranks = tests::world()->size();
  for (int sequence_parallel = 1; sequence_parallel <= ranks; ++sequence_parallel) {
    if (ranks % sequence_parallel != 0) continue;
    SCOPED_TRACE(fmt::format("mesh {}x{}", ranks / sequence_parallel, sequence_parallel));
    check(dist::Mesh(make_world(), sequence_parallel));
  }
}

/// The examples of this rank's sequence group.
Examples share_of(const Examples& examples, const dist::Mesh& mesh) {
  const auto part = base::share(static_cast<std::int64_t>(examples.size()), mesh.data_rank(), mesh.data_parallel());
  return {examples.begin() + part.begin, examples.begin() + part.end};
}

std::int64_t labels_of(const Examples& examples, Architecture architecture) {
  std::int64_t labels = 0;
  for (const auto& example : examples)
    labels += architecture == Architecture::encoder ? 1 : static_cast<std::int64_t>(example.target.size());
  return labels;
}

struct Update {
  double loss;
  at::Tensor gradient;  // [elements]
};

/// One update's loss and gradient over all examples; `mine` are those of this rank's sequence group.
Update update_of(const ModelOptions& options, const Examples& mine, std::int64_t labels, dist::Communicator& sequence,
                 dist::Communicator& world, const dist::ExchangeOptions& exchange = {}) {
  UniversalTransformer model(options, 3, world.device());
  perturb_parameters(model, 4);
  dist::GradientSynchronisation synchronisation(model.parameters().flat_gradient(), model.early_elements(), world);
  const at::Tensor loss = loss_of(model, make_batch(mine, options.architecture, sequence, exchange, options.points),
                                  DropoutKey::for_update(5, 6), &synchronisation) /
                          static_cast<double>(labels);
  loss.backward();
  synchronisation.finish();
  const at::Tensor total = loss.detach().clone().view({1});
  world.all_reduce_sum(total, dist::Purpose::control);
  return {total.item<double>(), model.parameters().flat_gradient().cpu()};
}

/// The same computed from all examples by rank 0 alone, since there may be fewer cores than ranks.
Update update_of_one_rank(const ModelOptions& options, const Examples& examples, std::int64_t labels) {
  const auto world = tests::world();
  Update update{0, at::zeros({UniversalTransformer(options, 3).parameters().elements()}, at::kDouble)};
  if (world->rank() == 0) {
    const auto single = dist::make_single_communicator();
    update = update_of(options, examples, labels, *single, *single);
  }
  const at::Tensor loss = at::full({1}, update.loss, at::kDouble);
  for (const at::Tensor& made : {loss, update.gradient}) world->all_reduce_sum(made, dist::Purpose::control);
  return {loss.item<double>(), update.gradient};
}

void expect_same_on_every_mesh(const ModelOptions& options, const Examples& examples,
                               const dist::ExchangeOptions& exchange = {}, MakeWorld make_world = tests::world) {
  const std::int64_t labels = labels_of(examples, options.architecture);
  const Update one_rank = update_of_one_rank(options, examples, labels);
  const double largest = one_rank.gradient.abs().max().item<double>();
  for_meshes(
      [&](const dist::Mesh& mesh) {
        const Update update =
            update_of(options, share_of(examples, mesh), labels, mesh.sequence(), mesh.world(), exchange);
        // The loss is 0 if there is only one candidate.
        EXPECT_NEAR(update.loss, one_rank.loss, 1e-10 * one_rank.loss);
        EXPECT_LE((update.gradient - one_rank.gradient).abs().max().item<double>(), 1e-10 * largest);
      },
      make_world);
}

class MeshModel : public testing::TestWithParam<ModelParts> {
 protected:
  MeshModel() {
    options_.architecture = GetParam().architecture;
    options_.transition = GetParam().transition;
    options_.points = GetParam().points;
    options_.words_per_row = options_.architecture == Architecture::encoder && !options_.points ? 3 : 1;
  }
  ModelOptions options_ = small_options();
};

TEST_P(MeshModel, GivesOneRanksLossAndGradient) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(fmt::format("draw {}", seed));
    expect_same_on_every_mesh(options_, random_sequences(seed, 5, 9, options_));
  }
}

TEST_P(MeshModel, GivesTheSameInItsOtherForms) {
  options_.norm = Norm::pre;
  options_.residual = Residual::signal_in;
  options_.signal = Signal::halves;
  options_.step_signal = StepSignal::learned;
  options_.block_layers = 2;
  expect_same_on_every_mesh(options_, random_sequences(4, 5, 9, options_));
}

TEST_P(MeshModel, GivesTheSameWithHalting) {
  options_.encoder_steps = options_.decoder_steps = 5;
  const auto check = [&](std::uint64_t seed, std::int64_t longest) {
    SCOPED_TRACE(fmt::format("halting {} and {}, kind {}, balance {}", static_cast<int>(options_.halting.encoder),
                             static_cast<int>(options_.halting.decoder), static_cast<int>(options_.halting.kind),
                             options_.halting.balance));
    expect_same_on_every_mesh(options_, random_sequences(seed, 5, longest, options_));
  };
  std::uint64_t seed = 20;
  for (const auto& [encoder, decoder] : {std::pair{Halting::act, Halting::act},
                                         {Halting::act_copy, Halting::act_copy},
                                         {Halting::none, Halting::act_copy},
                                         {Halting::act_copy, Halting::act}})
    for (const ActKind kind : {ActKind::basic, ActKind::global, ActKind::random}) {
      options_.halting = lively_halting(encoder, decoder);
      options_.halting.kind = kind;
      check(++seed, 9);
      options_.norm = options_.norm == Norm::post ? Norm::pre : Norm::post;
      options_.residual = options_.residual == Residual::signal_in ? Residual::signal_out : Residual::signal_in;
      options_.block_layers = 3 - options_.block_layers;
      options_.halting.balance = 1;
      check(++seed, 3);
    }
}

TEST_P(MeshModel, GivesTheSameInEveryExchangeForm) {
  options_.heads = 4;
  options_.d_model = 16;
  options_.encoder_steps = options_.decoder_steps = 4;
  const auto cut = options_.architecture == Architecture::encoder ? dist::Cut::contiguous : dist::Cut::zigzag;
  std::uint64_t seed = 60;
  for (const auto form : {dist::ExchangeForm::all_gather, dist::ExchangeForm::broadcast, dist::ExchangeForm::ring,
                          dist::ExchangeForm::heads})
    for (const auto sent : {dist::Sent::keys_values, dist::Sent::states})
      for (const Halting halting : {Halting::none, Halting::act}) {
        if (form == dist::ExchangeForm::heads && sent == dist::Sent::states) continue;
        SCOPED_TRACE(fmt::format("form {}, sent {}, halting {}", static_cast<int>(form), static_cast<int>(sent),
                                 static_cast<int>(halting)));
        options_.halting = lively_halting(halting, halting);
        options_.norm = halting == Halting::none ? Norm::post : Norm::pre;
        options_.block_layers = halting == Halting::none ? 2 : 1;
        expect_same_on_every_mesh(options_, random_sequences(++seed, 4, 70, options_), {form, sent, cut});
        expect_same_on_every_mesh(options_, random_sequences(++seed, 3, 5, options_), {form, sent, {}});
        expect_same_on_every_mesh(options_, {random_sequence(++seed, 0, 1, 2, options_)}, {form, sent, cut});
      }
}

TEST_P(MeshModel, GivesTheSameOnDevices) {
  options_.heads = 4;
  options_.d_model = 16;
  options_.encoder_steps = options_.decoder_steps = 4;
  std::uint64_t seed = 90;
  for (const auto form : {dist::ExchangeForm::all_gather, dist::ExchangeForm::broadcast, dist::ExchangeForm::ring,
                          dist::ExchangeForm::heads})
    for (const Halting halting : {Halting::none, Halting::act, Halting::act_copy}) {
      SCOPED_TRACE(fmt::format("form {}, halting {}", static_cast<int>(form), static_cast<int>(halting)));
      options_.halting = lively_halting(halting, halting);
      options_.halting.kind = form == dist::ExchangeForm::ring ? ActKind::global : ActKind::basic;
      options_.halting.balance = 1;
      for (const auto cut : {dist::Cut::contiguous, dist::Cut::zigzag})
        if (cut == dist::Cut::contiguous || halting == Halting::none)
          expect_same_on_every_mesh(options_, random_sequences(++seed, 3, 7, options_), {form, {}, cut},
                                    world_of_devices);
    }
}

struct Kept {
  std::int64_t bytes;   // kept for the backward pass
  at::Tensor gradient;  // [elements]
};

Kept kept_by(const ModelOptions& options, const Examples& mine, const dist::Mesh& mesh, dist::ExchangeForm form) {
  UniversalTransformer model(options, 3, mesh.world().device());
  perturb_parameters(model, 4);
  const Batch batch = make_batch(mine, options.architecture, mesh.sequence(), {form, {}, {}});
  const std::int64_t before = tests::stand_in_bytes();
  const at::Tensor loss = loss_of(model, batch, DropoutKey::for_update(5, 6));
  const std::int64_t bytes = tests::stand_in_bytes() - before;
  loss.backward();
  return {bytes, model.parameters().flat_gradient().cpu()};
}

TEST(MeshMemory, HoldsNoAttentionWeightsOnDevicesIfTheyAreRecomputed) {
  ModelOptions options = small_options();
  options.architecture = Architecture::encoder;
  options.heads = 4;
  options.encoder_steps = 4;
  for (const auto form : {dist::ExchangeForm::all_gather, dist::ExchangeForm::broadcast, dist::ExchangeForm::ring,
                          dist::ExchangeForm::heads})
    for_meshes(
        [&](const dist::Mesh& mesh) {
          SCOPED_TRACE(fmt::format("form {}", static_cast<int>(form)));
          const Examples mine = share_of(random_sequences(170, 4, 60, options), mesh);
          std::int64_t weights = 0;
          for (const auto& example : mine)
            weights += options.heads * static_cast<std::int64_t>(example.source.size() * example.source.size());
          options.recompute = Recompute::none;
          const Kept all = kept_by(options, mine, mesh, form);
          options.recompute = Recompute::attention;
          const Kept without = kept_by(options, mine, mesh, form);
          const std::int64_t bytes = 8 * options.encoder_steps * weights / mesh.sequence().size();
          EXPECT_GT(all.bytes - without.bytes, bytes);
          EXPECT_LT((all.gradient - without.gradient).abs().max().item<double>(),
                    1e-13 * all.gradient.abs().max().item<double>());
        },
        world_of_devices);
}

/// Each product in bfloat16 has an error of a few thousandths, and now and then a ReLU changes sides. Beyond that a
/// mesh changes only the order of sums.
TEST_P(MeshModel, ComesCloseInBfloat16) {
  options_.heads = 4;
  options_.d_model = 16;
  options_.precision = Precision::float32;
  std::uint64_t seed = 120;
  for (const auto form : {dist::ExchangeForm::all_gather, dist::ExchangeForm::broadcast, dist::ExchangeForm::ring,
                          dist::ExchangeForm::heads})
    for (const Halting halting : {Halting::none, Halting::act_copy}) {
      SCOPED_TRACE(fmt::format("form {}, halting {}", static_cast<int>(form), static_cast<int>(halting)));
      options_.halting = lively_halting(halting, halting);
      options_.halting.threshold = 2;  // no row stops before the last step, whatever the precision
      const Examples examples = random_sequences(++seed, 4, 9, options_);
      const std::int64_t labels = labels_of(examples, options_.architecture);
      const auto single = dist::make_single_communicator();
      options_.bfloat16_products = false;
      const Update exact = update_of(options_, examples, labels, *single, *single);
      options_.bfloat16_products = true;
      const Update alone = update_of(options_, examples, labels, *single, *single);
      const double size = exact.gradient.norm().item<double>();
      EXPECT_EQ(alone.gradient.scalar_type(), at::kFloat) << "of the master weights";
      EXPECT_NEAR(alone.loss / exact.loss, 1, 0.02);
      EXPECT_GT((alone.gradient - exact.gradient).norm().item<double>(), 0) << "not bfloat16 at all";
      EXPECT_LT((alone.gradient - exact.gradient).norm().item<double>(), 0.3 * size);
      for_meshes([&](const dist::Mesh& mesh) {
        for (const auto sent : {dist::Sent::keys_values, dist::Sent::states}) {
          if (form == dist::ExchangeForm::heads && sent == dist::Sent::states) continue;
          const Update update =
              update_of(options_, share_of(examples, mesh), labels, mesh.sequence(), mesh.world(), {form, sent, {}});
          EXPECT_NEAR(update.loss / alone.loss, 1, 0.005);
          EXPECT_LT((update.gradient - alone.gradient).norm().item<double>(), 0.1 * size);
        }
      });
    }
}

TEST(MeshExchange, SendsHalfTheBytesInBfloat16ForwardAndBackward) {
  for (const auto form : {dist::ExchangeForm::all_gather, dist::ExchangeForm::broadcast, dist::ExchangeForm::ring})
    for (const auto what : {dist::Sent::keys_values, dist::Sent::states})
      for_meshes([&](const dist::Mesh& mesh) {
        SCOPED_TRACE(fmt::format("form {}, sent {}", static_cast<int>(form), static_cast<int>(what)));
        const auto sent_with = [&](bool bfloat16) {
          ModelOptions options = small_options();
          options.architecture = Architecture::encoder;
          options.precision = Precision::float32;
          options.bfloat16_products = bfloat16;
          const UniversalTransformer model(options, 3);
          const Examples mine = share_of(random_sequences(8, 4, 6, options), mesh);
          const auto sent = [&] { return mesh.sent_bytes().at(static_cast<std::size_t>(dist::Purpose::exchange)); };
          const std::int64_t before = sent();
          loss_of(model, make_batch(mine, options.architecture, mesh.sequence(), {form, what, {}}), {}).backward();
          return sent() - before;
        };
        EXPECT_EQ(2 * sent_with(true), sent_with(false));
      });
}

TEST_P(MeshModel, GivesTheSameForFewerSequencesThanDataGroups) {
  for (const std::int64_t count : {1, 2}) {
    SCOPED_TRACE(fmt::format("{} sequences", count));
    expect_same_on_every_mesh(options_, random_sequences(5, count, 9, options_));
  }
}

TEST_P(MeshModel, GivesTheSameForSequencesShorterThanTheRanks) {
  Examples examples;
  for (std::int64_t id = 0; id < 4; ++id) examples.push_back(random_sequence(6, id, 1 + id % 2, 1 + id % 3, options_));
  expect_same_on_every_mesh(options_, examples);
  expect_same_on_every_mesh(options_, {random_sequence(7, 0, 1, 1, options_)});
}

/// Losses of 20 updates, and the parameters after them.
std::pair<std::vector<double>, at::Tensor> curve_of(const ModelOptions& options, const Examples& examples,
                                                    const Examples& mine, dist::Communicator& sequence,
                                                    dist::Communicator& world) {
  constexpr std::int64_t updates = 20;
  UniversalTransformer model(options, 3, world.device());
  perturb_parameters(model, 4);
  OptimizerOptions adam;
  adam.epsilon = 1e-4;
  Adam optimizer(adam, model.parameters());
  const Batch batch = make_batch(mine, options.architecture, sequence, {}, options.points);
  const auto labels = static_cast<double>(labels_of(examples, options.architecture));
  std::vector<double> losses;
  for (std::int64_t update = 0; update < updates; ++update) {
    const at::Tensor& gradient = model.parameters().flat_gradient();
    dist::GradientSynchronisation synchronisation(gradient, model.early_elements(), world);
    const at::Tensor loss = loss_of(model, batch, DropoutKey::for_update(5, update), &synchronisation) / labels;
    loss.backward();
    synchronisation.finish();
    optimizer.step(model.parameters().flat(), gradient, 1e-3);
    gradient.zero_();
    const at::Tensor total = loss.detach().clone().view({1});
    world.all_reduce_sum(total, dist::Purpose::control);
    losses.push_back(total.item<double>());
  }
  return {losses, model.parameters().flat().detach().clone()};
}

TEST_P(MeshModel, GivesTheSameCurveWithPositionsThatHaltForGood) {
  options_.encoder_steps = options_.decoder_steps = 4;
  options_.halting = lively_halting(Halting::act_copy, Halting::act_copy);
  options_.halting.balance = 1.2;
  const Examples examples = random_sequences(150, 5, 9, options_);
  const auto single = dist::make_single_communicator();
  const auto [expected, parameters] = curve_of(options_, examples, examples, *single, *single);
  EXPECT_LT(expected.back(), expected.front());
  for_meshes([&, &expected = expected, &parameters = parameters](const dist::Mesh& mesh) {
    const auto [losses, made] = curve_of(options_, examples, share_of(examples, mesh), mesh.sequence(), mesh.world());
    for (std::size_t update = 0; update < losses.size(); ++update)
      EXPECT_NEAR(losses[update] / expected[update], 1, 1e-9) << "update " << update + 1;
    EXPECT_LT((made - parameters).abs().max().item<double>(), 1e-9);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, MeshModel, every_model(), testing::PrintToStringParamName());

TEST(MeshGradients, CostTheSameBytesHoweverManySteps) {
  for_meshes([](const dist::Mesh& mesh) {
    for (const std::int64_t steps : {2, 8}) {
      ModelOptions options = small_options();
      options.encoder_steps = steps;
      options.decoder_steps = steps;
      const auto sent = [&] { return mesh.sent_bytes().at(static_cast<std::size_t>(dist::Purpose::gradients)); };
      const std::int64_t before = sent();
      const Examples examples = random_sequences(8, 4, 6, options);
      const Update update = update_of(options, share_of(examples, mesh), labels_of(examples, options.architecture),
                                      mesh.sequence(), mesh.world());
      const std::int64_t ranks = mesh.world().size();
      EXPECT_EQ(sent() - before, 2 * (ranks - 1) * update.gradient.numel() * 8 / ranks) << steps << " steps";
    }
  });
}

class MeshDecoding : public testing::TestWithParam<std::tuple<Halting, ActKind, std::int64_t>> {};

TEST_P(MeshDecoding, GivesWhatOneRankGives) {
  const auto [halting, kind, beam] = GetParam();
  HaltingOptions options = lively_halting(halting, halting);
  options.kind = kind;
  const auto decoded = [&options, how = DecodingOptions{12, 5, beam, 0.6, {}, true}](const Examples& mine,
                                                                                     dist::Communicator& group) {
    const auto model = talkative_model(options, group.device());
    const Batch batch = make_batch(mine, Architecture::encoder_decoder, group);
    return decode(*model, batch, sources_of(mine), model->steps(), how, group).found;
  };
  const Examples examples = random_sequences(4, 6, 8, talkative_model()->options());
  for (const MakeWorld make_world : {&tests::world, &world_of_devices})
    for_meshes(
        [&](const dist::Mesh& mesh) {
          const Examples mine = share_of(examples, mesh);
          const Likeliest found = decoded(mine, mesh.sequence());
          const auto single = dist::make_single_communicator();
          const Likeliest alone = decoded(mine, *single);
          EXPECT_EQ(found.outputs, alone.outputs);
          EXPECT_THAT(found.log_probabilities, testing::Pointwise(testing::DoubleNear(1e-9), alone.log_probabilities));
        },
        make_world);
}

INSTANTIATE_TEST_SUITE_P(None, MeshDecoding,
                         testing::Combine(testing::Values(Halting::none), testing::Values(ActKind::basic),
                                          testing::Values(1, 3)));
INSTANTIATE_TEST_SUITE_P(Halting, MeshDecoding,
                         testing::Combine(testing::Values(Halting::act, Halting::act_copy),
                                          testing::Values(ActKind::basic, ActKind::global), testing::Values(1, 3)));

}  // namespace
}  // namespace ut::core
