#include "dist/communicator.h"

namespace ut::dist {
namespace {

class SingleCommunicator final : public Communicator {
 public:
  explicit SingleCommunicator(at::Device device) : device_(device) {}

  int rank() const override { return 0; }
  int size() const override { return 1; }
  at::Device device() const override { return device_; }
  void all_reduce_sum(at::Tensor, Purpose) override {}
  std::function<void()> start_all_reduce_sum(at::Tensor, Purpose) override {
    return [] {};
  }
  PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t>, Purpose) override {
    return [local] { return local; };
  }
  PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t, int, Purpose) override {
    return [rows] { return rows; };
  }
  at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t>, std::span<const std::int64_t>,
                             Purpose) override {
    return rows;
  }
  std::unique_ptr<Communicator> split(int) override { return make_single_communicator(device_); }

 private:
  at::Device device_;
};

}  // namespace

std::unique_ptr<Communicator> make_single_communicator(at::Device device) {
  return std::make_unique<SingleCommunicator>(device);
}

}  // namespace ut::dist
