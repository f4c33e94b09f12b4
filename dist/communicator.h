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
#include <vector>

namespace ut::dist {

/// What a message is for; bytes are counted apart for each.
enum class Purpose { exchange, gradients, control };
inline constexpr std::size_t purposes = 3;
inline constexpr std::array<std::string_view, purposes> purpose_names = {"exchange", "gradients", "control"};

/// Bytes that this rank handed to the network, by purpose. An all-reduce counts as a ring would send it: 2 (n-1)/n of
/// the tensor.
using SentBytes = std::array<std::int64_t, purposes>;

/// Seconds that this rank waited for others instead of working, by purpose; NaN where that is not seen.
using WaitedSeconds = std::array<double, purposes>;

/// Purpose by purpose.
template <class Amounts>
Amounts sum_of(Amounts sum, const Amounts& other) {
  for (std::size_t purpose = 0; purpose < purposes; ++purpose) sum.at(purpose) += other.at(purpose);
  return sum;
}

/// A collective under way: call it once to wait for what it brings.
using Arriving = std::function<at::Tensor()>;

/// Every rank's rows on their way: one rank's after the other's in `all`, of which rank r's are there when arrived[r],
/// called once, has returned.
struct ArrivingRows {
  at::Tensor all;
  std::vector<std::function<void()>> arrived;  // [ranks]
};

/// A group of ranks and its collectives. Every rank of the group must call the same collectives in the same order.
/// Rows are cut along the first dimension; a rank may have none. Tensors are of float32, float64, int64 or
/// uint8, rows that are only carried of bfloat16, too; what is summed in place is contiguous. Throws std::runtime_error
/// where the transport fails.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The ranks being a ring, the one so far after this one.
  int rank_at(int distance) const { return ((rank() + distance) % size() + size()) % size(); }
  /// Where the rows are that are worked on. Tensors of the CPU are carried too, whatever it is.
  virtual at::Device device() const { return at::kCPU; }

  /// Sums `tensor` over the ranks, in place; every rank gets the same bits.
  virtual void all_reduce_sum(at::Tensor tensor, Purpose purpose) = 0;
  /// The same, begun and not waited for: call the result once.
  virtual std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) = 0;
  /// Lets what is under way go on, where that takes the processor. Not collective.
  virtual void progress() {}
  /// Every rank's rows, one rank's after the other's. `local` [counts[rank], ...] -> [sum(counts), ...].
  at::Tensor all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts, Purpose purpose) {
    return start_all_gather_rows(local, counts, purpose)();
  }
  /// The same, begun and not waited for, so that work can go on meanwhile; other collectives may come between.
  virtual Arriving start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                         Purpose purpose) = 0;
  /// Begins to send every rank's rows, `local` [counts[rank()], ...], to all, which arrive one rank's by one; each is
  /// to be waited for.
  virtual ArrivingRows start_broadcast_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                            Purpose purpose) = 0;
  /// Begins to send `rows` [any number, ...] to rank_at(distance), and to receive [received, ...] from
  /// rank_at(-distance).
  virtual Arriving start_shift_rows(const at::Tensor& rows, std::int64_t received, int distance, Purpose purpose) = 0;
  /// Sends sent[r] rows of `rows` [sum of sent, ...] (in the order of the ranks) to rank r; returns the rows received
  /// [sum of received, ...], in that order.
  virtual at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t> sent,
                                     std::span<const std::int64_t> received, Purpose purpose) = 0;
  /// The ranks that give the same colour, ordered as here. Collective.
  virtual std::unique_ptr<Communicator> split(int color) = 0;

  virtual SentBytes sent_bytes() const { return sent_bytes_; }
  virtual WaitedSeconds waited_seconds() const { return waited_seconds_; }

 protected:
  void add_sent(Purpose purpose, std::int64_t bytes) { sent_bytes_.at(static_cast<std::size_t>(purpose)) += bytes; }
  // What a collective hands to the network, whatever carries it.
  void count_all_reduce(const at::Tensor& tensor, Purpose purpose);
  void count_to_all(const at::Tensor& mine, Purpose purpose);
  void count_shift(const at::Tensor& mine, int distance, Purpose purpose);
  /// Of the rows `sent[r]` go to rank r.
  void count_all_to_all(const at::Tensor& rows, std::span<const std::int64_t> sent, Purpose purpose);

  /// Counts the time from here to the end of its scope as waited, and shows it in a trace.
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
    at::RecordFunction scope_{at::RecordScope::USER_SCOPE};  // for who traces
    double& seconds_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

 private:
  SentBytes sent_bytes_{};
  WaitedSeconds waited_seconds_{};
};

/// A group of one rank, which works on this device: nothing is sent.
std::unique_ptr<Communicator> make_single_communicator(at::Device device = at::kCPU);

}  // namespace ut::dist
