// The attention weights that an observer gets, against a softmax in plain loops and against attention's output.

#include "core/watched_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

struct WatchedSetting {
  Halting halting;
  std::int64_t layers;
};

std::string name_of(const WatchedSetting& setting) {
  const char* name = setting.halting == Halting::none ? "None" : setting.halting == Halting::act ? "Act" : "ActCopy";
  return fmt::format("{}Layers{}", name, setting.layers);
}

std::ostream& operator<<(std::ostream& stream, const WatchedSetting& setting) { return stream << name_of(setting); }

class WatchedRowsOf : public testing::TestWithParam<WatchedSetting> {
 protected:
  WatchedRowsOf() {
    ModelOptions options = small_options();
    options.encoder_steps = options.decoder_steps = 5;
    options.block_layers = GetParam().layers;
    options.halting = lively_halting(GetParam().halting, GetParam().halting);
    model_ = std::make_unique<UniversalTransformer>(options, 3);
    perturb_parameters(*model_, 2, 0.6);
    sequences_ = random_sequences(5, 4, 7, options);
    batch_ = make_batch(sequences_, Architecture::encoder_decoder, *group_);
  }

  std::shared_ptr<StackRows> watch(const Recurrence& stack, const dist::SequenceExchange& exchange,
                                   const Memory* memory) {
    return watch_attention(stack.make_rows(exchange, memory), exchange.all(), memory != nullptr,
                           memory == nullptr ? nullptr : &memory->rows,
                           [this](const SeenAttention& seen) { seen_.push_back(seen); });
  }

  /// Runs encoder and decoder with an observer, and returns the logits.
  at::Tensor watched_logits() {
    const at::NoGradGuard no_graph;
    const auto source = watch(model_->encoder(), *batch_.source, nullptr);
    const at::Tensor encoded =
        model_->encoder().forward(model_->embed_source(batch_), batch_.source_position, 5, *source, nullptr, {}).state;
    of_encoder_ = seen_.size();
    const Memory memory = model_->decoder().block().remember(encoded, *batch_.source);
    const auto target = watch(model_->decoder(), *batch_.target, &memory);
    return model_->logits(
        model_->decoder().forward(model_->embed_target(batch_), batch_.target_position, 5, *target, &memory, {}).state);
  }

  const dist::Rows& keys_of(std::size_t index) const {
    return index < of_encoder_ || seen_[index].over_memory ? batch_.source->all() : batch_.target->all();
  }

  bool sees(std::size_t index, std::int64_t query, std::int64_t key) const {
    const dist::Rows& queries = seen_[index].queries;
    const dist::Rows& keys = keys_of(index);
    const auto at = [](const at::Tensor& numbers, std::int64_t row) { return numbers[row].item<std::int64_t>(); };
    const bool causal = index >= of_encoder_ && !seen_[index].over_memory;
    return at(queries.sequence, query) == at(keys.sequence, key) &&
           (!causal || at(keys.position, key) <= at(queries.position, query));
  }

  void expect_softmax(std::size_t index) const {
    const SeenAttention& seen = seen_[index];
    const std::int64_t heads = seen.weights.size(0);
    const std::int64_t columns = seen.query.size(1) / heads;
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t query = 0; query < seen.query.size(0); ++query) {
        std::vector<double> exponential;
        double sum = 0;
        for (std::int64_t key = 0; key < keys_of(index).count(); ++key) {
          double product = 0;
          for (std::int64_t column = head * columns; column < (head + 1) * columns; ++column)
            product += seen.query[query][column].item<double>() * seen.keys_values[key][column].item<double>();
          exponential.push_back(sees(index, query, key) ? std::exp(product / std::sqrt(static_cast<double>(columns)))
                                                        : 0);
          sum += exponential.back();
        }
        for (std::int64_t key = 0; key < keys_of(index).count(); ++key)
          ASSERT_NEAR(seen.weights[head][query][key].item<double>(), exponential[static_cast<std::size_t>(key)] / sum,
                      1e-12);
      }
  }

  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();
  std::unique_ptr<UniversalTransformer> model_;
  std::vector<ExampleSequence> sequences_;
  Batch batch_;
  std::vector<SeenAttention> seen_;
  std::size_t of_encoder_ = 0;  // how many of seen_
};

TEST_P(WatchedRowsOf, ChangesNothing) {
  const at::NoGradGuard no_graph;
  EXPECT_TRUE(watched_logits().equal(model_->forward(batch_, {5, 5}, {}).logits));
}

TEST_P(WatchedRowsOf, WeightsAreASoftmaxOverWhatIsSeen) {
  watched_logits();
  for (std::size_t index = 0; index < seen_.size(); ++index) {
    SCOPED_TRACE(index);
    expect_softmax(index);
  }
}

TEST_P(WatchedRowsOf, WeightedValuesAreWhatAttentionGave) {
  watched_logits();
  for (const SeenAttention& seen : seen_) {
    const std::int64_t heads = seen.weights.size(0);
    const std::int64_t d = seen.query.size(1);
    const at::Tensor values = seen.keys_values.narrow(1, d, d).reshape({-1, heads, d / heads}).transpose(0, 1);
    const at::Tensor output = at::matmul(seen.weights, values).transpose(0, 1).reshape({-1, d});
    EXPECT_LT((output - seen.output).abs().max().item<double>(), 1e-12) << "step " << seen.step;
  }
}

TEST_P(WatchedRowsOf, EveryLayerOfEveryStepIsSeenWithTheRowsThatRan) {
  watched_logits();
  std::map<std::pair<bool, bool>, std::vector<std::int64_t>>
      queries;  // by (in the decoder, over the memory): of each step and layer
  for (std::size_t index = 0; index < seen_.size(); ++index) {
    auto& steps = queries[{index >= of_encoder_, seen_[index].over_memory}];
    EXPECT_EQ(seen_[index].layer, steps.size() % static_cast<std::size_t>(GetParam().layers));
    EXPECT_EQ(seen_[index].step, static_cast<std::int64_t>(steps.size()) / GetParam().layers + 1);
    steps.push_back(seen_[index].query.size(0));
  }
  ASSERT_EQ(queries.size(), 3);
  for (const auto& [stack, counts] : queries) {
    EXPECT_EQ(counts.front(), (stack.first ? batch_.target : batch_.source)->all().count());
    const bool some_left = counts.back() < counts.front();
    EXPECT_EQ(some_left, GetParam().halting == Halting::act_copy);
  }
}

INSTANTIATE_TEST_SUITE_P(Halting, WatchedRowsOf,
                         testing::Values(WatchedSetting{Halting::none, 1}, WatchedSetting{Halting::none, 2},
                                         WatchedSetting{Halting::act, 1}, WatchedSetting{Halting::act_copy, 1},
                                         WatchedSetting{Halting::act_copy, 2}),
                         [](const auto& setting) { return name_of(setting.param); });

}  // namespace
}  // namespace ut::core
