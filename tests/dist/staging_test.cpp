#include "dist/staging.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

namespace ut::dist {
namespace {

/// Addresses of the host memory that staging made: all that a network card could read.
using HostMemory = std::set<const void*>;

/// A single rank. A test fails if it is given memory that is not the host's.
class HostRank final : public Communicator {
 public:
  explicit HostRank(const HostMemory& memory) : memory_(memory) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce_sum(at::Tensor tensor, Purpose purpose) override { require_host_memory(tensor, purpose).mul_(2); }
  std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    return [summed = require_host_memory(tensor, purpose)] { summed.mul_(9); };
  }
  PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t>,
                                      Purpose purpose) override {
    return [arrived = require_host_memory(local, purpose) * 3] { return arrived; };
  }
  PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t, int, Purpose purpose) override {
    return [arrived = require_host_memory(rows, purpose) * 8] { return arrived; };
  }
  at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t>, std::span<const std::int64_t>,
                             Purpose purpose) override {
    return require_host_memory(rows, purpose) * 6;
  }
  std::unique_ptr<Communicator> split(int) override { return std::make_unique<HostRank>(memory_); }

 private:
  at::Tensor require_host_memory(const at::Tensor& tensor, Purpose purpose) {
    EXPECT_TRUE(memory_.contains(tensor.const_data_ptr())) << "the host cannot read this";
    EXPECT_TRUE(tensor.is_contiguous());
    add_sent(purpose, 1);
    return tensor;
  }

  const HostMemory& memory_;
};

/// Float tensors stand for a device's, double tensors for the host's.
class Staged : public testing::Test {
 public:
  Staging staging() {
    return {at::kCPU, [](const at::Tensor& tensor) { return tensor.scalar_type() == at::kFloat; },
            [this](const at::Tensor& tensor) {
              kept.push_back(tensor.to(at::kDouble).contiguous());
              memory.insert(kept.back().const_data_ptr());
              return kept.back();
            },
            [](const at::Tensor& host, const at::Tensor& to) { to.copy_(host); }};
  }

  std::vector<at::Tensor> kept;
  HostMemory memory;
  std::unique_ptr<Communicator> group = make_staged_communicator(std::make_unique<HostRank>(memory), staging());
  at::Tensor device = at::arange(6, at::kFloat).view({3, 2}).t();  // [2, 3], strided
  std::vector<std::int64_t> counts = {2};
};

TEST_F(Staged, SendsHostCopiesAndCopiesResultsBack) {
  EXPECT_TRUE(group->all_gather_rows(device, counts, Purpose::exchange).equal(device * 3));
  EXPECT_TRUE(group->all_to_all_rows(device, counts, counts, Purpose::exchange).equal(device * 6));
  const PendingTensor arriving = group->start_all_gather_rows(device, counts, Purpose::exchange);
  EXPECT_TRUE(arriving().equal(device * 3));
  EXPECT_TRUE(group->start_shift_rows(device, 2, 1, Purpose::exchange)().equal(device * 8));
  EXPECT_TRUE(group->split(0)->all_gather_rows(device, counts, Purpose::exchange).equal(device * 3));
}

TEST_F(Staged, SumsInPlace) {
  const at::Tensor before = device.clone();
  group->all_reduce_sum(device, Purpose::gradients);
  EXPECT_TRUE(device.equal(before * 2));
  const auto summed = group->start_all_reduce_sum(device, Purpose::gradients);
  EXPECT_TRUE(device.equal(before * 2)) << "is not there before it is waited for";
  summed();
  EXPECT_TRUE(device.equal(before * 18));
}

TEST_F(Staged, DoesNotCopyHostTensors) {
  const at::Tensor host = at::ones({4}, at::kDouble);
  memory.insert(host.const_data_ptr());
  group->all_reduce_sum(host, Purpose::control);
  EXPECT_TRUE(host.equal(at::full({4}, 2, at::kDouble)));
  EXPECT_TRUE(group->all_gather_rows(host, counts, Purpose::control).equal(host * 3));
  EXPECT_TRUE(kept.empty());
}

TEST_F(Staged, CountsWhatTheHostSends) {
  group->all_reduce_sum(device, Purpose::gradients);
  group->all_to_all_rows(device, counts, counts, Purpose::exchange);
  EXPECT_EQ(group->sent_bytes(), (SentBytes{1, 1, 0}));
}

}  // namespace
}  // namespace ut::dist
