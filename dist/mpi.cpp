#include "dist/mpi.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "dist/mpi_error.h"
#include "dist/roll_call.h"
#include "dist/row_tensors.h"
#include "dist/watchdog.h"

namespace ut::dist {

/// What watches over a session's waits.
struct MpiWatch {
  explicit MpiWatch(Patience patience)
      : host(std::move(patience.host)),
        watchdog(patience.limit, [this, late = std::move(patience.late)](const std::string& call) {
          const RollCall* const asked = roll_call;
          late(call, asked != nullptr ? asked->absent() : std::nullopt);
        }) {}

  void begin_roll_calls() { roll_call = &roll_calls.emplace(host, MPI_COMM_WORLD, watchdog); }

  std::string host;
  std::optional<RollCall> roll_calls;
  std::atomic<RollCall*> roll_call = nullptr;  // once MPI is initialised
  Watchdog watchdog;                           // last: its thread uses the others
};

namespace {

Watchdog* watchdog_of(const std::shared_ptr<MpiWatch>& watch) { return watch ? &watch->watchdog : nullptr; }
RollCall* roll_call_of(const std::shared_ptr<MpiWatch>& watch) { return watch ? watch->roll_call.load() : nullptr; }

MPI_Datatype datatype(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kLong:
      return MPI_INT64_T;
    case at::kByte:
      return MPI_UINT8_T;
    case at::kBFloat16:
      return MPI_UINT16_T;  // to be moved, not to be summed
    default:
      throw std::runtime_error(fmt::format("MPI communicator: no data type for {}", toString(tensor.scalar_type())));
  }
}

/// Of a tensor that is summed over ranks.
MPI_Datatype sum_datatype(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBFloat16) throw std::runtime_error("MPI communicator: cannot sum bfloat16");
  return datatype(tensor);
}

/// Where each rank's rows lie in a buffer, as MPI wants it: in whole rows, so that the numbers stay small.
struct Parts {
  std::vector<int> counts;
  std::vector<int> begins;
  std::int64_t total = 0;

  explicit Parts(std::span<const std::int64_t> rows) {
    for (const std::int64_t count : rows) {
      if (count > std::numeric_limits<int>::max() - total)
        throw std::runtime_error("MPI communicator: more rows in one message than MPI can count");
      counts.push_back(static_cast<int>(count));
      begins.push_back(static_cast<int>(total));
      total += count;
    }
  }
};

/// use(data, elements) of parts that MPI can count: it counts in int.
template <class Use>
void for_each_chunk(const at::Tensor& tensor, const Use& use) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  auto* bytes = static_cast<char*>(tensor.data_ptr());
  for (std::int64_t begin = 0; begin < tensor.numel(); begin += most)
    use(bytes + begin * static_cast<std::int64_t>(tensor.element_size()),
        static_cast<int>(std::min(most, tensor.numel() - begin)));
}

/// A row of elements as one MPI type.
class RowType {
 public:
  explicit RowType(const at::Tensor& rows) {
    const std::int64_t elements = row_elements(rows);
    if (elements > std::numeric_limits<int>::max())
      throw std::runtime_error("MPI communicator: more numbers in a row than MPI can count");
    check_mpi(MPI_Type_contiguous(static_cast<int>(elements), datatype(rows), &type_), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~RowType() { MPI_Type_free(&type_); }
  RowType(const RowType&) = delete;
  RowType& operator=(const RowType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class MpiCommunicator final : public Communicator {
 public:
  /// Takes over `communicator`, whose collectives are watched over, if `watch` is given.
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
    add_sent(purpose, 2 * bytes_of(tensor) * (size_ - 1) / size_);
  }

  std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    TORCH_CHECK(tensor.is_contiguous() && tensor.is_cpu(), "all-reduce needs a contiguous CPU tensor");
    const auto requests = std::make_shared<std::vector<MPI_Request>>();
    for_each_chunk(tensor, [&](void* data, int count) {
      check_mpi(MPI_Iallreduce(MPI_IN_PLACE, data, count, sum_datatype(tensor), MPI_SUM, communicator_,
                               &requests->emplace_back(MPI_REQUEST_NULL)),
                "MPI_Iallreduce");
    });
    add_sent(purpose, 2 * bytes_of(tensor) * (size_ - 1) / size_);
    return [this, tensor, requests, purpose] {
      const WaitingCall waiting(*this, purpose, "MPI_Iallreduce");
      waiting.until_done(*requests);
    };
  }

  void progress() override {
    int arrived = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }

  Arriving start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                 Purpose purpose) override {
    /// What MPI reads and writes until the collective is done.
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
    add_sent(purpose, bytes_of(mine) * (size_ - 1));
    return [this, pending, purpose] {
      const WaitingCall waiting(*this, purpose, "MPI_Iallgatherv");
      waiting.until_done({&pending->request, 1});
      return pending->all;
    };
  }

  ArrivingRows start_broadcast_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                    Purpose purpose) override {
    const Parts parts(counts);
    const at::Tensor mine = local.contiguous();
    const auto row = std::make_shared<RowType>(mine);
    ArrivingRows arriving{new_rows(mine, parts.total), {}};
    for (int root = 0; root < size_; ++root) {
      const auto from = static_cast<std::size_t>(root);
      at::Tensor rows = arriving.all.narrow(0, parts.begins[from], parts.counts[from]);
      if (root == rank_) rows.copy_(mine);
      const auto request = std::make_shared<MPI_Request>(MPI_REQUEST_NULL);
      check_mpi(MPI_Ibcast(rows.data_ptr(), parts.counts[from], row->get(), root, communicator_, request.get()),
                "MPI_Ibcast");
      arriving.arrived.emplace_back([this, rows, row, request, purpose] {
        const WaitingCall waiting(*this, purpose, "MPI_Ibcast");
        waiting.until_done({request.get(), 1});
      });
    }
    add_sent(purpose, bytes_of(mine) * (size_ - 1));
    return arriving;
  }

  Arriving start_shift_rows(const at::Tensor& rows, std::int64_t received, int distance, Purpose purpose) override {
    /// What MPI reads and writes until both have happened.
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
    if (rank_at(distance) != rank_) add_sent(purpose, bytes_of(pending->mine));
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
    const std::int64_t kept = sent[static_cast<std::size_t>(rank_)];
    add_sent(purpose, (out.total - kept) * row_elements(source) * static_cast<std::int64_t>(source.element_size()));
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
    /// Before a call in which this rank cannot take part in roll calls: it is not to wait there for a late rank. (`ut
    /// bench --exchange heads`, act-copy, d 32, two ranks: 76 ms an update with this and without.)
    void for_all_ranks() {
      if (group_.watch_ == nullptr) return;
      wait_for_all_ranks(group_.communicator_, roll_call_of(group_.watch_));
      begin();  // what comes is the network's time, not a late rank's
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

MpiSession::MpiSession(std::optional<Patience> patience) {
  if (patience) watch_ = std::make_shared<MpiWatch>(*std::move(patience));
  const Watchdog::Wait wait(watchdog_of(watch_), "MPI_Init");
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();  // nobody else will
    throw std::runtime_error("this MPI library cannot be called from more than one thread (MPI_THREAD_SERIALIZED)");
  }
  if (watch_ != nullptr) watch_->begin_roll_calls();
}

MpiSession::~MpiSession() {
  const Watchdog::Wait wait(watchdog_of(watch_), "MPI_Finalize");
  try {
    if (RollCall* roll_call = roll_call_of(watch_)) roll_call->end();
  } catch (const std::exception&) {
    watch_->roll_call = nullptr;  // nobody is to be asked any more: all that was to be done is done
  }
  MPI_Finalize();
}

std::unique_ptr<Communicator> MpiSession::world() const {
  const Watchdog::Wait wait(watchdog_of(watch_), "MPI_Comm_dup");
  wait_for_all_ranks(MPI_COMM_WORLD, roll_call_of(watch_));
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  return std::make_unique<MpiCommunicator>(copy, watch_);
}

void MpiSession::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace ut::dist
