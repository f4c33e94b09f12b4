#include "dist/nccl.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <link.h>
#include <nccl.h>
#include <torch/csrc/cuda/nccl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "dist/nccl_handle.h"
#include "dist/nccl_library.h"
#include "dist/row_tensors.h"
#include "dist/work_watch.h"

namespace ut::dist {
namespace {

using c10::cuda::CUDAEvent;
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;

NcclLibraries nccl_libraries() {
  NcclLibraries libraries;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* paths) {
        if (std::strstr(object->dlpi_name, "/libnccl.so") != nullptr)
          static_cast<std::vector<std::string>*>(paths)->emplace_back(object->dlpi_name);
        return 0;
      },
      &libraries.loaded);
  libraries.compiled_for = NCCL_VERSION_CODE;
  check_nccl(ncclGetVersion(&libraries.version), "ncclGetVersion");
  const std::uint64_t libtorch = torch::cuda::nccl::version();  // major, minor, patch: 16 bits each
  libraries.libtorch_compiled_for =
      static_cast<int>((libtorch >> 32) * 10000 + (libtorch >> 16 & 0xffff) * 100 + (libtorch & 0xffff));
  return libraries;
}

ncclDataType_t data_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ncclFloat32;
    case at::kDouble:
      return ncclFloat64;
    case at::kBFloat16:
      return ncclBfloat16;
    case at::kLong:
      return ncclInt64;
    case at::kByte:
      return ncclUint8;
    default:
      throw std::runtime_error(fmt::format("NCCL communicator: no data type for {}", toString(tensor.scalar_type())));
  }
}

/// Where one rank's rows lie in a buffer, in elements.
struct Part {
  std::size_t begin = 0;
  std::size_t count = 0;

  void* in(const at::Tensor& rows) const {
    return static_cast<char*>(rows.data_ptr()) + begin * static_cast<std::size_t>(rows.element_size());
  }
};

/// Every rank's part, in the order of the ranks.
std::vector<Part> parts_of(std::span<const std::int64_t> counts, const at::Tensor& rows) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (const std::int64_t count : counts) {
    parts.push_back({begin, static_cast<std::size_t>(count * row_elements(rows))});
    begin += parts.back().count;
  }
  return parts;
}

std::int64_t sum(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

bool all_equal(std::span<const std::int64_t> counts) {
  return std::ranges::all_of(counts, [&](std::int64_t count) { return count == counts.front(); });
}

/// Calls that NCCL carries out together: call(0), …, call(calls - 1), up to the first that fails.
template <class Call>
ncclResult_t grouped(int calls, const Call& call) {
  ncclResult_t result = ncclGroupStart();
  if (!went_well(result)) return result;
  for (int number = 0; number < calls && went_well(result); ++number) result = call(number);
  const ncclResult_t ended = ncclGroupEnd();
  return went_well(result) ? ended : result;
}

/// What all groups of a process share.
struct Gpu {
  explicit Gpu(const NcclOptions& options)
      : device(static_cast<c10::DeviceIndex>(options.gpu)),
        stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device)),
        watch({.timeout = options.timeout}, options.stuck) {}

  c10::DeviceIndex device;
  CUDAStream stream;
  WorkWatch watch;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, std::shared_ptr<Gpu> gpu)
      : host_(std::move(host)), gpu_(std::move(gpu)), handle_(gpu_->watch) {
    const CUDAGuard guard(gpu_->device);
    handle_.connect(rank(), size(), shared_nccl_id(*host_));
  }

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  at::Device device() const override { return {at::kCUDA, gpu_->device}; }

  void all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    if (tensor.is_cpu()) return on_host().all_reduce_sum(tensor, purpose);
    start_all_reduce_sum(tensor, purpose)();
  }

  std::function<void()> start_all_reduce_sum(at::Tensor tensor, Purpose purpose) override {
    if (tensor.is_cpu()) return on_host().start_all_reduce_sum(tensor, purpose);
    TORCH_CHECK(tensor.is_contiguous(), "all-reduce needs a contiguous tensor");
    const ncclDataType_t type = data_type(tensor);
    const auto count = static_cast<std::size_t>(tensor.numel());
    count_all_reduce(tensor, purpose);
    return run("all-reduce", {tensor}, [&](ncclComm_t group, cudaStream_t stream) {
      return ncclAllReduce(tensor.data_ptr(), tensor.data_ptr(), count, type, ncclSum, group, stream);
    });
  }

  PendingTensor start_all_gather_rows(const at::Tensor& local, std::span<const std::int64_t> counts,
                                      Purpose purpose) override {
    if (local.is_cpu()) return on_host().start_all_gather_rows(local, counts, purpose);
    const at::Tensor mine = local.contiguous();
    at::Tensor all = new_rows(mine, sum(counts));
    const ncclDataType_t type = data_type(mine);
    const std::vector<Part> parts = parts_of(counts, mine);
    const auto arrived = run("all-gather", {mine, all}, [&](ncclComm_t group, cudaStream_t stream) {
      if (all_equal(counts))
        return ncclAllGather(mine.const_data_ptr(), all.data_ptr(), parts.front().count, type, group, stream);
      return grouped(size(), [&](int root) {
        const Part& part = parts[static_cast<std::size_t>(root)];
        return part.count == 0
                   ? ncclSuccess
                   : ncclBroadcast(mine.const_data_ptr(), part.in(all), part.count, type, root, group, stream);
      });
    });
    count_to_all(mine, purpose);
    return [arrived, mine, all] {  // `mine` too: nobody else may write to it meanwhile
      arrived();
      return all;
    };
  }

  PendingTensor start_shift_rows(const at::Tensor& rows, std::int64_t received, int distance,
                                 Purpose purpose) override {
    if (rows.is_cpu()) return on_host().start_shift_rows(rows, received, distance, purpose);
    const at::Tensor mine = rows.contiguous();
    at::Tensor theirs = new_rows(mine, received);
    const ncclDataType_t type = data_type(mine);
    const int to = rank_at(distance);
    const int from = rank_at(-distance);
    const auto arrived = run("shift", {mine, theirs}, [&](ncclComm_t group, cudaStream_t stream) {
      const auto count = static_cast<std::size_t>(mine.numel());
      return grouped(2, [&](int way) {
        if (way == 0) return count == 0 ? ncclSuccess : ncclSend(mine.const_data_ptr(), count, type, to, group, stream);
        const auto expected = static_cast<std::size_t>(theirs.numel());
        return expected == 0 ? ncclSuccess : ncclRecv(theirs.data_ptr(), expected, type, from, group, stream);
      });
    });
    count_shift(mine, distance, purpose);
    return [arrived, mine, theirs] {
      arrived();
      return theirs;
    };
  }

  at::Tensor all_to_all_rows(const at::Tensor& rows, std::span<const std::int64_t> sent,
                             std::span<const std::int64_t> received, Purpose purpose) override {
    if (rows.is_cpu()) return on_host().all_to_all_rows(rows, sent, received, purpose);
    const at::Tensor source = rows.contiguous();
    const at::Tensor result = new_rows(source, sum(received));
    const ncclDataType_t type = data_type(source);
    const std::vector<Part> out = parts_of(sent, source);
    const std::vector<Part> in = parts_of(received, source);
    run("all-to-all", {source, result}, [&](ncclComm_t group, cudaStream_t stream) {
      return grouped(size(), [&](int peer) {
        const Part& to = out[static_cast<std::size_t>(peer)];
        const Part& from = in[static_cast<std::size_t>(peer)];
        ncclResult_t done = ncclSuccess;
        if (to.count > 0) done = ncclSend(to.in(source), to.count, type, peer, group, stream);
        if (from.count > 0 && went_well(done)) done = ncclRecv(from.in(result), from.count, type, peer, group, stream);
        return done;
      });
    })();
    count_all_to_all(source, sent, purpose);
    return result;
  }

  std::unique_ptr<Communicator> split(int color) override {
    return std::make_unique<NcclCommunicator>(host_->split(color), gpu_);
  }

  SentBytes sent_bytes() const override { return sum_of(Communicator::sent_bytes(), host_->sent_bytes()); }

  /// Only the GPU's streams wait for rows and gradients, and the host does not see that.
  WaitedSeconds waited_seconds() const override {
    WaitedSeconds seconds = host_->waited_seconds();
    for (const Purpose unseen : {Purpose::exchange, Purpose::gradients})
      seconds.at(static_cast<std::size_t>(unseen)) = std::numeric_limits<double>::quiet_NaN();
    return seconds;
  }

 private:
  /// Carries CPU tensors. Throws after a failure: what the GPU has computed since may come from half a sum.
  Communicator& on_host() {
    gpu_->watch.check();
    return *host_;
  }

  /// Lets NCCL do nccl(group, stream) to `tensors` after the work that the caller's stream has been given so far. The
  /// function that it returns makes the stream that is current then wait until NCCL is done.
  template <class Nccl>
  std::function<void()> run(const char* what, std::initializer_list<at::Tensor> tensors, const Nccl& nccl) {
    const CUDAGuard guard(gpu_->device);
    const CUDAStream& stream = gpu_->stream;
    CUDAEvent given;
    given.record(c10::cuda::getCurrentCUDAStream(gpu_->device));
    given.block(stream);
    std::int64_t bytes = 0;
    for (const at::Tensor& tensor : tensors) {
      tensor.record_stream(stream);  // keeps their memory until the stream is done with it
      bytes = std::max(bytes, bytes_of(tensor));
    }
    const std::string message = fmt::format("{} of {} bytes", what, bytes);
    handle_.call(message, [&](ncclComm_t group) { return nccl(group, stream.stream()); });
    const auto ended = std::make_shared<CUDAEvent>();
    ended->record(stream);
    gpu_->watch.begin(message, [ended, device = gpu_->device] {
      const CUDAGuard of_event(device);  // otherwise the watch's thread could take memory on the first GPU
      return ended->query();
    });
    return [ended, device = gpu_->device] { ended->block(c10::cuda::getCurrentCUDAStream(device)); };
  }

  std::unique_ptr<Communicator> host_;
  std::shared_ptr<Gpu> gpu_;
  NcclHandle handle_;  // destroyed first: it waits for what is under way
};

}  // namespace

bool has_nccl() { return true; }

std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, const NcclOptions& options) {
  check_one_nccl(nccl_libraries());
  if (options.shared_gpus) ::setenv("NCCL_HOSTID", fmt::format("rank-{}", host->rank()).c_str(), /*replace=*/0);
  return std::make_unique<NcclCommunicator>(std::move(host), std::make_shared<Gpu>(options));
}

}  // namespace ut::dist
