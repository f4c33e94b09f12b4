#include "dist/staging.h"

#include <ATen/ATen.h>

#include <utility>

namespace ut::dist {
namespace {

class StagedCommunicator final : public Communicator {
 public:
  StagedCommunicator(std::unique_ptr<Communicator> host, Staging staging)
      : host_(std::move(host)), staging_(std::move(staging)) {}

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  at::Device device() const override { return staging_.device; }

  void all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    const at::Tensor staged = on_host(tensor);
    host_->all_reduce_sum(staged, purpose);
    if (staging_.is_on_device(tensor)) staging_.to_device(staged, tensor);
  }

  std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    const at::Tensor staged = on_host(tensor);
    return [this, tensor, staged, summed = host_->start_all_reduce_sum(staged, purpose)] {
      summed();
      if (staging_.is_on_device(tensor)) staging_.to_device(staged, tensor);
    };
  }

  void progress() override { host_->progress(); }

  PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                      Purpose purpose) override {
    return [this, local, arriving = host_->start_all_gather_rows(on_host(local), counts, purpose)] {
      return back(arriving(), local);
    };
  }

  PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t received, int distance,
                                 Purpose purpose) override {
    return [this, rows, arriving = host_->start_shift_rows(on_host(rows), received, distance, purpose)] {
      return back(arriving(), rows);
    };
  }

  at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t> sent,
                             std::span<const std::int64_t> received, Purpose purpose) override {
    return back(host_->all_to_all_rows(on_host(rows), sent, received, purpose), rows);
  }

  std::unique_ptr<Communicator> split(int color) override {
    return make_staged_communicator(host_->split(color), staging_);
  }

  SentBytes sent_bytes() const override { return host_->sent_bytes(); }
  WaitedSeconds waited_seconds() const override { return host_->waited_seconds(); }

 private:
  at::Tensor on_host(const at::Tensor& tensor) const {
    return staging_.is_on_device(tensor) ? staging_.to_host(tensor) : tensor;
  }

  /// What came, moved to where `like` is.
  at::Tensor back(const at::Tensor& arrived, const at::Tensor& like) const {
    if (!staging_.is_on_device(like)) return arrived;
    const at::Tensor device = at::empty(arrived.sizes(), like.options());
    staging_.to_device(arrived, device);
    return device;
  }

  std::unique_ptr<Communicator> host_;
  Staging staging_;
};

}  // namespace

Staging cuda_staging(at::Device device) {
  return {device, [](const at::Tensor& tensor) { return tensor.is_cuda(); },
          [](const at::Tensor& tensor) {
            const at::Tensor host = at::empty(tensor.sizes(), tensor.options().device(at::kCPU).pinned_memory(true));
            host.copy_(tensor);  // waits for the stream
            return host;
          },
          [](const at::Tensor& host, const at::Tensor& to) {
            to.copy_(host, /*non_blocking=*/true);  // LibTorch keeps pinned memory until such copies have ended
          }};
}

std::unique_ptr<Communicator> make_staged_communicator(std::unique_ptr<Communicator> host, Staging staging) {
  return std::make_unique<StagedCommunicator>(std::move(host), std::move(staging));
}

}  // namespace ut::dist
