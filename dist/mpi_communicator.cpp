#include "dist/mpi_communicator.h"

#include <ATen/ATen.h>

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dist/mpi_error.h"
#include "dist/mpi_types.h"
#include "dist/mpi_watch.h"
#include "dist/row_tensors.h"

namespace ut::dist {
namespace {

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MPI_Comm communicator, std::shared_ptr<MpiWatch> watch)
      : communicator_(communicator), watch_(std::move(watch)) {
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }
  ~MpiCommunicator() override { MPI_Comm_free(&communicator_); }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    TORCH_CHECK(tensor.is_contiguous() && tensor.is_cpu(), "all-reduce needs a contiguous CPU tensor");
    WaitingCall waiting(*this, purpose, "MPI_Allreduce");
    waiting.for_all_ranks();
    for_each_chunk(tensor, [&](void* data, int count) {
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, data, count, sum_datatype(tensor), MPI_SUM, communicator_),
                "MPI_Allreduce");
    });
    count_all_reduce(tensor, purpose);
  }

  std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    TORCH_CHECK(tensor.is_contiguous() && tensor.is_cpu(), "all-reduce needs a contiguous CPU tensor");
    const at::Tensor mine = tensor.clone();  // not MPI_IN_PLACE, with which Open MPI sends whole tensors along a tree
    const auto* from = static_cast<const char*>(mine.const_data_ptr());
    const auto requests = std::make_shared<std::vector<MPI_Request>>();
    for_each_chunk(tensor, [&](void* data, int count) {
      check_mpi(MPI_Iallreduce(from, data, count, sum_datatype(tensor), MPI_SUM, communicator_,
                               &requests->emplace_back(MPI_REQUEST_NULL)),
                "MPI_Iallreduce");
      from += count * tensor.element_size();
    });
    count_all_reduce(tensor, purpose);
    return [this, tensor, mine, requests, purpose] {
      const WaitingCall waiting(*this, purpose, "MPI_Iallreduce");
      waiting.until_done(*requests);
    };
  }

  void progress() override {
    int arrived = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }

  PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                      Purpose purpose) override {
    /// Keeps what MPI reads and writes until the collective is done.
    struct Pending {
      Pending(const at::Tensor& rows, std::span<const std::int64_t> all_counts)
          : parts(all_counts), mine(rows.contiguous()), all(new_rows(mine, parts.total)), row(mine) {}

      Parts parts;
      at::Tensor mine;
      at::Tensor all;
      RowType row;
      MPI_Request request = MPI_REQUEST_NULL;
    };
    const auto pending = std::make_shared<Pending>(local, counts);
    const at::Tensor& mine = pending->mine;
    check_mpi(MPI_Iallgatherv(mine.const_data_ptr(), static_cast<int>(mine.size(0)), pending->row.get(),
                              pending->all.data_ptr(), pending->parts.counts.data(), pending->parts.begins.data(),
                              pending->row.get(), communicator_, &pending->request),
              "MPI_Iallgatherv");
    count_to_all(mine, purpose);
    return [this, pending, purpose] {
      const WaitingCall waiting(*this, purpose, "MPI_Iallgatherv");
      waiting.until_done({&pending->request, 1});
      return pending->all;
    };
  }

  PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t received, int distance,
                                 Purpose purpose) override {
    /// Keeps what MPI reads and writes until both transfers are done.
    struct Pending {
      Pending(const at::Tensor& rows, std::int64_t received)
          : mine(rows.contiguous()), theirs(new_rows(mine, received)), row(mine) {}

      at::Tensor mine;
      at::Tensor theirs;
      RowType row;
      std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    };
    const Parts counted(std::array{rows.size(0), received});
    const auto pending = std::make_shared<Pending>(rows, received);
    check_mpi(MPI_Irecv(pending->theirs.data_ptr(), counted.counts[1], pending->row.get(), rank_at(-distance), 0,
                        communicator_, &pending->requests[0]),
              "MPI_Irecv");
    check_mpi(MPI_Isend(pending->mine.const_data_ptr(), counted.counts[0], pending->row.get(), rank_at(distance), 0,
                        communicator_, &pending->requests[1]),
              "MPI_Isend");
    count_shift(pending->mine, distance, purpose);
    return [this, pending, purpose] {
      const WaitingCall waiting(*this, purpose, "MPI_Isend, MPI_Irecv");
      waiting.until_done(pending->requests);
      return pending->theirs;
    };
  }

  at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t> sent,
                             std::span<const std::int64_t> received, Purpose purpose) override {
    const Parts out(sent);
    const Parts in(received);
    const at::Tensor source = rows.contiguous();
    at::Tensor result = new_rows(source, in.total);
    const RowType row(source);
    WaitingCall waiting(*this, purpose, "MPI_Alltoallv");
    waiting.for_all_ranks();
    check_mpi(MPI_Alltoallv(source.const_data_ptr(), out.counts.data(), out.begins.data(), row.get(), result.data_ptr(),
                            in.counts.data(), in.begins.data(), row.get(), communicator_),
              "MPI_Alltoallv");
    count_all_to_all(source, sent, purpose);
    return result;
  }

  std::unique_ptr<Communicator> split(int color) override {
    const Watchdog::Wait wait(watchdog_of(watch_), "MPI_Comm_split");
    wait_for_all_ranks(communicator_, roll_call_of(watch_));
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(communicator_, color, rank_, &part), "MPI_Comm_split");
    return std::make_unique<MpiCommunicator>(part, watch_);
  }

 private:
  /// A call in which this rank waits for others.
  class WaitingCall {
   public:
    WaitingCall(MpiCommunicator& group, Purpose purpose, const char* call)
        : group_(group), call_(call), counted_(group, purpose) {
      begin();
    }

    void until_done(std::span<MPI_Request> requests) const { wait_for(requests, roll_call_of(group_.watch_)); }
    /// For use before a call in which this rank cannot take part in roll calls, so that it does not wait for a late
    /// rank there. (`ut bench --exchange heads`, act-copy, d 32, two ranks: 76 ms an update with this and without.)
    void for_all_ranks() {
      if (group_.watch_ == nullptr) return;
      wait_for_all_ranks(group_.communicator_, roll_call_of(group_.watch_));
      begin();  // from here on it waits for the network, not for a late rank
    }

   private:
    void begin() { watched_.emplace(watchdog_of(group_.watch_), call_); }

    const MpiCommunicator& group_;
    const char* call_;
    std::optional<Watchdog::Wait> watched_;
    Waiting counted_;
  };

  MPI_Comm communicator_;
  std::shared_ptr<MpiWatch> watch_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm communicator, std::shared_ptr<MpiWatch> watch) {
  return std::make_unique<MpiCommunicator>(communicator, std::move(watch));
}

}  // namespace ut::dist
