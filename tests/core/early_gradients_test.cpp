// Which gradients are summed over ranks, and when: the decoder's while the encoder's are still being computed.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "dist/gradient_synchronisation.h"
#include "tests/core/random_batch.h"

namespace ut::core {
namespace {

/// A sum over ranks, recorded when it began.
struct BegunSum {
  base::Span elements;  // of the flat gradient
  std::int64_t bytes;
  at::Tensor gradient;  // [elements]: the whole flat gradient at that moment
};

/// A single rank that records the sums of a flat gradient.
class RecordingRank final : public dist::Communicator {
 public:
  explicit RecordingRank(const at::Tensor& gradient) : gradient_(gradient) {}

  int rank() const override { return single_->rank(); }
  int size() const override { return single_->size(); }
  void all_reduce_sum(at::Tensor tensor, dist::Purpose purpose) override {
    record(tensor, purpose);
    single_->all_reduce_sum(tensor, purpose);
  }
  std::function<void()> start_all_reduce_sum(at::Tensor tensor, dist::Purpose purpose) override {
    record(tensor, purpose);
    ++under_way;
    return [this, summed = single_->start_all_reduce_sum(tensor, purpose)] {
      summed();
      --under_way;
    };
  }
  void progress() override {
    if (under_way > 0) ++progressed;
  }
  dist::PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                            dist::Purpose purpose) override {
    return single_->start_all_gather_rows(local, counts, purpose);
  }
  dist::PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t received, int distance,
                                       dist::Purpose purpose) override {
    return single_->start_shift_rows(rows, received, distance, purpose);
  }
  at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t> sent,
                             std::span<const std::int64_t> received, dist::Purpose purpose) override {
    return single_->all_to_all_rows(rows, sent, received, purpose);
  }
  std::unique_ptr<Communicator> split(int color) override { return single_->split(color); }

  std::vector<BegunSum> begun;
  int under_way = 0;   // sums begun and not yet waited for
  int progressed = 0;  // calls of progress() while sums were under way

 private:
  void record(const at::Tensor& tensor, dist::Purpose purpose) {
    EXPECT_EQ(purpose, dist::Purpose::gradients);
    EXPECT_TRUE(tensor.is_alias_of(gradient_));
    const std::int64_t begin = tensor.storage_offset() - gradient_.storage_offset();
    begun.push_back(
        {{begin, begin + tensor.numel()}, static_cast<std::int64_t>(tensor.nbytes()), gradient_.detach().clone()});
  }

  at::Tensor gradient_;
  std::unique_ptr<dist::Communicator> single_ = dist::make_single_communicator();
};

at::Tensor stretch_of(const at::Tensor& flat, const base::Span& elements) {
  return flat.narrow(0, elements.begin, elements.end - elements.begin);
}

class EarlyGradients : public testing::TestWithParam<std::tuple<Halting, Recompute>> {
 protected:
  static ModelOptions model_options() {
    ModelOptions options = small_options();
    options.encoder_steps = 4;
    options.norm = Norm::pre;
    options.step_signal = StepSignal::learned;
    options.halting.encoder = options.halting.decoder = std::get<Halting>(GetParam());
    options.halting.bias = -60;  // no position halts before the last step
    options.recompute = std::get<Recompute>(GetParam());
    return options;
  }

  /// The forward and backward pass of one of an update's batches.
  void go_over_batch(std::uint64_t seed, dist::GradientSynchronisation* synchronisation) {
    const auto sequences = random_sequences(seed, 4, 6, model_.options());
    const Batch batch = make_batch(sequences, Architecture::encoder_decoder, *group_);
    loss_of(model_, batch, DropoutKey::for_update(7, 8), synchronisation).backward();
  }

  /// Each element must be summed over ranks once, and only when it is complete.
  void expect_all_handed_over_once_and_complete() {
    const at::Tensor times = at::zeros_like(gradient_);
    std::int64_t bytes = 0;
    for (const BegunSum& sum : world_.begun) {
      stretch_of(times, sum.elements).add_(1);
      bytes += sum.bytes;
      EXPECT_TRUE(stretch_of(sum.gradient, sum.elements).equal(stretch_of(gradient_, sum.elements)))
          << "elements from " << sum.elements.begin << " on changed after they were handed over";
    }
    EXPECT_TRUE(times.equal(at::ones_like(times)));
    EXPECT_EQ(bytes, static_cast<std::int64_t>(gradient_.nbytes()));
    EXPECT_EQ(world_.under_way, 0) << "not waited for";
  }

  UniversalTransformer model_{model_options(), 3};
  std::unique_ptr<dist::Communicator> group_ = dist::make_single_communicator();  // shares the sequences
  at::Tensor gradient_ = model_.parameters().flat_gradient();
  RecordingRank world_{gradient_};  // shares the gradients
};

TEST_P(EarlyGradients, StartTheDecodersSumDuringTheEncodersBackwardPass) {
  perturb_parameters(model_, 4);
  dist::GradientSynchronisation synchronisation(gradient_, model_.early_elements(), world_);
  go_over_batch(5, nullptr);
  ASSERT_TRUE(world_.begun.empty()) << "another batch is to come";
  const at::Tensor of_first_batch = gradient_.clone();
  go_over_batch(6, &synchronisation);

  ASSERT_EQ(world_.begun.size(), 1) << "sums that were begun before the backward pass had ended";
  const BegunSum early = world_.begun[0];
  std::int64_t of_decoder = 0;
  for (const Parameter& parameter : model_.parameters().all())
    if (parameter.name.starts_with("decoder.")) of_decoder += parameter.tensor.numel();
  EXPECT_EQ(early.bytes, of_decoder * 8);
  EXPECT_EQ(early.elements.begin, model_.parameters().elements_of("decoder.").begin);
  const base::Span encoder = model_.parameters().elements_of("encoder.");
  EXPECT_TRUE(stretch_of(early.gradient, encoder).equal(stretch_of(of_first_batch, encoder)))
      << "some of the encoder's backward pass was over";
  EXPECT_FALSE(stretch_of(gradient_, encoder).equal(stretch_of(of_first_batch, encoder)));
  EXPECT_EQ(world_.under_way, 1) << "waited for in the backward pass";
  EXPECT_GE(world_.progressed, model_.options().encoder_steps / 2) << "of two steps at most at a time";

  synchronisation.finish();
  EXPECT_GT(world_.begun.size(), 1);
  expect_all_handed_over_once_and_complete();
}

TEST_P(EarlyGradients, AreSummedInTheSameOrderByARankWithoutABatch) {
  dist::GradientSynchronisation synchronisation(gradient_, model_.early_elements(), world_);
  go_over_batch(5, &synchronisation);
  synchronisation.finish();
  RecordingRank idle(gradient_);
  dist::GradientSynchronisation(gradient_, model_.early_elements(), idle).finish();
  ASSERT_EQ(idle.begun.size(), world_.begun.size());
  for (std::size_t number = 0; number < idle.begun.size(); ++number) {
    EXPECT_EQ(idle.begun[number].elements.begin, world_.begun[number].elements.begin) << "sum " << number;
    EXPECT_EQ(idle.begun[number].elements.end, world_.begun[number].elements.end) << "sum " << number;
  }
  EXPECT_EQ(idle.under_way, 0);
}

INSTANTIATE_TEST_SUITE_P(, EarlyGradients,
                         testing::Combine(testing::Values(Halting::none, Halting::act, Halting::act_copy),
                                          testing::Values(Recompute::none, Recompute::step)));

}  // namespace
}  // namespace ut::core
