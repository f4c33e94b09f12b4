#include "dist/nccl_handle.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ut::dist {

std::string nccl_error_text(const std::string& what, ncclResult_t result) {
  return fmt::format("NCCL: {}: {} ({})", what, ncclGetErrorString(result), ncclGetLastError(nullptr));
}

void check_nccl(ncclResult_t result, const char* what) {
  if (!went_well(result)) throw std::runtime_error(nccl_error_text(what, result));
}

NcclHandle::NcclHandle(WorkWatch& watch) : watch_(watch) { watch_.add(*this); }

NcclHandle::~NcclHandle() {
  try {
    // Finalizing waits for what is under way. There is no handle if connecting failed.
    call("ncclCommFinalize",
         [](ncclComm_t handle) { return handle == nullptr ? ncclSuccess : ncclCommFinalize(handle); });
    const std::lock_guard lock(mutex_);
    if (handle_ != nullptr) ncclCommDestroy(std::exchange(handle_, nullptr));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the watch knows, and aborts
  }
  watch_.remove(*this);
}

void NcclHandle::connect(int rank, int size, const ncclUniqueId& id) {
  call("ncclCommInitRankConfig", [&](ncclComm_t) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return ncclCommInitRankConfig(&handle_, size, id, rank, &config);
  });
}

std::string NcclHandle::asynchronous_error() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || calling_ || handle_ == nullptr) return {};  // call() reports its own errors
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(handle_, &state);
  const ncclResult_t result = asked == ncclSuccess ? state : asked;
  return went_well(result) ? std::string() : nccl_error_text("asynchronous error", result);
}

void NcclHandle::abort() noexcept {
  // Does not wait longer: a call that is stuck all the same, say because the GPU takes no more work, is freed only by
  // the abort.
  std::unique_lock lock(mutex_, std::chrono::seconds(2));
  aborted_ = true;
  const ncclComm_t handle = std::exchange(handle_, nullptr);
  if (lock.owns_lock()) lock.unlock();  // whoever calls meanwhile need not wait for the abort, which may hang
  if (handle != nullptr) ncclCommAbort(handle);
}

ncclUniqueId shared_nccl_id(Communicator& host) {
  ncclUniqueId id{};
  const bool first = host.rank() == 0;
  if (first) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  const at::Tensor mine = at::zeros({first ? 1 : 0, sizeof id}, at::kByte);
  if (first) std::memcpy(mine.data_ptr(), &id, sizeof id);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(host.size()), 0);
  counts.front() = 1;
  // Uses a group of its own, so that `host` counts only the bytes of the program's work.
  const at::Tensor told = host.split(0)->all_gather_rows(mine, counts, Purpose::control);
  std::memcpy(&id, told.const_data_ptr(), sizeof id);
  return id;
}

}  // namespace ut::dist
