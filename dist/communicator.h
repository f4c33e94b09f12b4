#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ut::dist {

/// What a message is for. Sent bytes and waits are counted separately for each purpose.
enum class Purpose { exchange, gradients, control };
inline constexpr std::size_t purposes = 3;
inline constexpr std::array<std::string_view, purposes> purpose_names = {"exchange", "gradients", "control"};

/// Bytes that this rank handed to the network, by purpose. An all-reduce over n ranks counts 2 (n-1)/n of the tensor,
/// as a ring would send it.
using SentBytes = std::array<std::int64_t, purposes>;

/// Seconds that this rank waited for others instead of working, by purpose; NaN if that cannot be measured.
using WaitedSeconds = std::array<double, purposes>;

/// Adds purpose by purpose.
template <class Amounts>
Amounts sum_of(Amounts sum, const Amounts& other) {
  for (std::size_t purpose = 0; purpose < purposes; ++purpose) sum.at(purpose) += other.at(purpose);
  return sum;
}

/// A collective that was started: call it once to wait for the tensor that it brings.
using PendingTensor = std::function<at::Tensor()>;

/// A group of ranks and its collectives. Every rank of the group must call the same collectives in the same order. Rows
/// are cut along the first dimension; a rank may have none. Tensors are float32, float64, int64 or uint8; rows that are
/// only moved, not summed, may also be bfloat16. A tensor that is summed in place must be contiguous. Throws
/// std::runtime_error if the transport fails.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The rank `distance` places after this one, with the ranks in a ring.
  int rank_at(int distance) const { return ((rank() + distance) % size() + size()) % size(); }
  /// The device of the rows that are worked on. Whatever it is, collectives take CPU tensors too.
  virtual at::Device device() const { return at::kCPU; }

  /// Sums `tensor` over the ranks, in place; every rank gets the same bits.
  virtual void all_reduce_sum(at::Tensor tensor, Purpose purpose) = 0;
  /// Starts the same sum without waiting for it: call the result once to wait.
  virtual std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) = 0;
  /// Lets collectives under way advance, if that takes the processor. Not collective.
  virtual void progress() {}
  /// Gathers every rank's rows, one rank's after another's. `local` [counts[rank()], ...] -> [sum(counts), ...].
  at::Tensor all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts, Purpose purpose) {
    return start_all_gather_rows(local, counts, purpose)();
  }
  /// Starts the same gather without waiting for it, so that work can go on. Other collectives may come before the wait.
  virtual PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                              Purpose purpose) = 0;
  /// Starts to send `rows` [any number, ...] to rank_at(distance), and to receive [received, ...] from
  /// rank_at(-distance).
  virtual PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t received, int distance,
                                         Purpose purpose) = 0;
  /// Sends sent[r] of `rows` [sum of sent, ...] to rank r; the rows lie in the order of the ranks. Returns the rows
  /// received [sum of received, ...], received[r] of them from rank r, in the same order.
  virtual at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t> sent,
                                     std::span<const std::int64_t> received, Purpose purpose) = 0;
  /// The group of the ranks that pass the same colour, ordered as here. Collective.
  virtual std::unique_ptr<Communicator> split(int color) = 0;

  virtual SentBytes sent_bytes() const { return sent_bytes_; }
  virtual WaitedSeconds waited_seconds() const { return waited_seconds_; }

 protected:
  void add_sent(Purpose purpose, std::int64_t bytes) { sent_bytes_.at(static_cast<std::size_t>(purpose)) += bytes; }
  // Count what a collective hands to the network, whatever carries it.
  void count_all_reduce(const at::Tensor& tensor, Purpose purpose);
  void count_to_all(const at::Tensor& mine, Purpose purpose);
  void count_shift(const at::Tensor& mine, int distance, Purpose purpose);
  /// `sent[r]` of the rows go to rank r.
  void count_all_to_all(const at::Tensor& rows, std::span<const std::int64_t> sent, Purpose purpose);

  /// Counts the time from its construction to its destruction as waited, and shows it in a trace.
  class Waiting {
   public:
    Waiting(Communicator& communicator, Purpose purpose)
        : seconds_(communicator.waited_seconds_.at(static_cast<std::size_t>(purpose))) {
      const std::string_view name = purpose_names.at(static_cast<std::size_t>(purpose));
      if (scope_.isActive()) scope_.before("waiting for other ranks: " + std::string(name));
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

   private:
    at::RecordFunction scope_{at::RecordScope::USER_SCOPE};  // for profilers
    double& seconds_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

 private:
  SentBytes sent_bytes_{};
  WaitedSeconds waited_seconds_{};
};

/// A group of one rank, which works on `device`: nothing is sent.
std::unique_ptr<Communicator> make_single_communicator(at::Device device = at::kCPU);

}  // namespace ut::dist
