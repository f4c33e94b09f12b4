#pragma once

#include <nccl.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "dist/communicator.h"
#include "dist/work_watch.h"

namespace ut::dist {

/// Whether a call has succeeded or is still being carried out.
inline bool went_well(ncclResult_t result) { return result == ncclSuccess || result == ncclInProgress; }

/// One line with NCCL's own message. `what`: the call that failed.
std::string nccl_error_text(const std::string& what, ncclResult_t result);

/// Throws std::runtime_error with that line unless the call went well.
void check_nccl(ncclResult_t result, const char* what);

/// A group's NCCL handle, whose calls do not block. The watch may abort it between any two calls.
class NcclHandle final : public Watched {
 public:
  /// Not connected yet. `watch` must outlive it.
  explicit NcclHandle(WorkWatch& watch);
  NcclHandle(const NcclHandle&) = delete;
  NcclHandle& operator=(const NcclHandle&) = delete;
  /// Waits for what is under way, finalizes, destroys: every rank of the group must do so.
  ~NcclHandle() override;

  /// Makes it the handle of rank `rank` in the group of `size` ranks that have the same id. Collective. Throws
  /// std::runtime_error as call() does.
  void connect(int rank, int size, const ncclUniqueId& id);

  /// Calls NCCL with the handle and waits until NCCL has taken the call over; the work that it starts can still be
  /// under way. `what` names the call in messages; nccl(handle) returns NCCL's result. Throws std::runtime_error if the
  /// call fails or the watch has seen a failure.
  template <class Nccl>
  void call(const std::string& what, const Nccl& nccl);

  std::string asynchronous_error() override;
  void abort() noexcept override;

 private:
  template <class Nccl>
  ncclResult_t unless_aborted(const Nccl& nccl) {
    const std::lock_guard lock(mutex_);
    return aborted_ ? ncclRemoteError : nccl(handle_);
  }

  WorkWatch& watch_;
  std::timed_mutex mutex_;  // never held while calling the watch, whose abort waits for it
  ncclComm_t handle_ = nullptr;
  std::atomic<bool> calling_ = false;
  std::atomic<bool> aborted_ = false;
};

/// An id made by rank 0 and told to all ranks. Collective among the ranks of `host`. Throws std::runtime_error if NCCL
/// makes none.
ncclUniqueId shared_nccl_id(Communicator& host);

template <class Nccl>
void NcclHandle::call(const std::string& what, const Nccl& nccl) {
  constexpr int quick_looks = 200;
  const auto taken = std::make_shared<std::atomic<bool>>(false);
  watch_.check();
  watch_.begin(what, [taken] { return taken->load(); });
  calling_ = true;
  ncclResult_t result = unless_aborted(nccl);
  for (int looks = 0; result == ncclInProgress; ++looks) {
    if (looks < quick_looks)  // a call is mostly taken over within microseconds
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    result = unless_aborted([](ncclComm_t handle) {
      ncclResult_t state = ncclSuccess;
      const ncclResult_t asked = ncclCommGetAsyncError(handle, &state);
      return asked == ncclSuccess ? state : asked;
    });
  }
  calling_ = false;
  *taken = true;  // or failed: there is nothing to wait for any more
  if (result != ncclSuccess) watch_.fail(nccl_error_text(what, result));
  watch_.check();
}

}  // namespace ut::dist
