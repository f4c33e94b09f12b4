// Injects faults into a rank, for tests: a library that is loaded before all others (LD_PRELOAD) and stands between the
// program and MPI or the file system. It acts only on the rank and at the moment that UT_FAULT names:
//
//   UT_FAULT=KIND:RANK:N    RANK: -1 if there are no ranks
//
//   throw flip memory segfault kill stop    when the Nth update hands its gradients to the all-reduce
//   nan infinity large                 in the float64 gradients of the update after the Nth, before they are summed;
//                                      the square of a large one is not finite
//   full broken                        every operation on a checkpoint's files from the Nth on fails: no space left, or
//                                      an input/output error
//   slow                               every such operation from the Nth on takes a twentieth of a second longer
//   late                               the first read from the checkpoint of update N is delayed by 12 seconds
//   kill-at                            SIGKILL before the Nth operation that changes the run's checkpoints
//   handlers                           handlers of a hang-up and of crashes are set before main(), as UCX does
//   unsynced                           SIGABRT when a file or directory of checkpoints is renamed into place before all
//                                      that was written in it is synced to the disk; N is ignored
//
// flip: one bit of one summed gradient, on this rank alone. It is not the lowest bit: rounding could hide that.
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace {

struct Fault {
  std::string kind;
  long at = 0;
};

/// The fault for this process; an empty kind: none.
const Fault& fault() {
  static const Fault found = [] {
    const char* text = std::getenv("UT_FAULT");
    const char* rank_text = std::getenv("OMPI_COMM_WORLD_RANK");
    const std::string rank = rank_text == nullptr ? "-1" : rank_text;
    if (text == nullptr) return Fault{};
    const std::string all = text;
    const auto first = all.find(':');
    const auto second = all.find(':', first + 1);
    if (all.substr(first + 1, second - first - 1) != rank) return Fault{};
    return Fault{all.substr(0, first), std::stol(all.substr(second + 1))};
  }();
  return found;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool memory_is_gone = false;

/// The gradients of the Nth update while they are being summed.
struct Summed {
  void* buffer = nullptr;
  const MPI_Request* request = nullptr;
};
Summed to_flip;
/// What the first exchange of rows after the sum poisons, in the following update.
Summed to_poison;

void inject(void* buffer, const MPI_Request* request) {
  const std::string& kind = fault().kind;
  if (kind == "throw") throw std::runtime_error("a fault that a test has put here");
  if (kind == "nan" || kind == "infinity" || kind == "large") to_poison = {buffer, request};
  if (kind == "flip") to_flip = {buffer, request};
  if (kind == "memory") memory_is_gone = true;
  if (kind == "segfault") raise(SIGSEGV);
  if (kind == "kill") raise(SIGKILL);
  if (kind == "stop") raise(SIGSTOP);
}

bool is_of_checkpoint(std::string_view path) { return path.find("/checkpoints/") != std::string_view::npos; }

std::string path_of(int descriptor) {
  std::array<char, 64> link{};
  std::array<char, PATH_MAX> path{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
  const auto length = readlink(link.data(), path.data(), path.size());
  return {path.data(), static_cast<std::size_t>(length > 0 ? length : 0)};
}

bool is_of_checkpoint(int descriptor) { return is_of_checkpoint(path_of(descriptor)); }

/// Checkpoint files that were written but not synced.
std::set<std::string> not_on_disk;

void note_written(int descriptor) {
  if (fault().kind == "unsynced" && is_of_checkpoint(descriptor)) not_on_disk.insert(path_of(descriptor));
}

void check_on_disk(std::string_view moved) {
  if (fault().kind != "unsynced") return;
  for (const std::string& file : not_on_disk)
    if (std::string_view(file).starts_with(moved)) raise(SIGABRT);
}

/// Whether an operation on this file (a path or a descriptor) is to fail, with errno set. May end the process.
template <class File>
bool fails(File file) {
  const std::string& kind = fault().kind;
  if (kind != "full" && kind != "broken" && kind != "slow" && kind != "kill-at") return false;
  if (!is_of_checkpoint(file)) return false;
  static long operations = 0;
  if (++operations < fault().at) return false;
  if (kind == "kill-at") raise(SIGKILL);
  if (kind == "slow") return usleep(50'000) > 0;
  errno = kind == "full" ? ENOSPC : EIO;
  return true;
}

[[gnu::constructor]] void handle_signals() {
  if (fault().kind == "handlers")
    for (const int number : {SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) signal(number, [](int) {});
}

void delay_first_read(int descriptor) {
  static bool has_delayed = false;
  if (fault().kind != "late" || has_delayed) return;
  std::array<char, 64> checkpoint{};
  std::snprintf(checkpoint.data(), checkpoint.size(), "/checkpoints/update-%08ld/", fault().at);
  if (path_of(descriptor).find(checkpoint.data()) == std::string::npos) return;
  has_delayed = true;
  sleep(12);
}

}  // namespace

extern "C" {

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm group,
                   MPI_Request* request) {
  static long updates = 0;
  if (!fault().kind.empty() && ++updates == fault().at) inject(to, request);
  return PMPI_Iallreduce(from, to, count, type, operation, group, request);
}

int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const int code = PMPI_Testall(count, requests, done, statuses);
  if (*done != 0 && to_flip.buffer != nullptr && requests == to_flip.request)
    static_cast<unsigned char*>(std::exchange(to_flip, {}).buffer)[3] ^= 1;
  if (*done != 0 && requests == to_poison.request) to_poison.request = nullptr;
  return code;
}

/// Poisons here, not in the report at the end of an update: the gradients are zeroed after that report.
int MPI_Isend(const void* rows, int count, MPI_Datatype type, int to, int tag, MPI_Comm group, MPI_Request* request) {
  if (to_poison.buffer != nullptr && to_poison.request == nullptr)
    static_cast<double*>(std::exchange(to_poison, {}).buffer)[0] = fault().kind == "nan"     ? std::nan("")
                                                                   : fault().kind == "large" ? 1e200
                                                                                             : HUGE_VAL;
  return PMPI_Isend(rows, count, type, to, tag, group, request);
}

/// LibTorch allocates with this.
int posix_memalign(void** memory, size_t alignment, size_t size) {
  static const auto real = next<int (*)(void**, size_t, size_t)>("posix_memalign");
  return memory_is_gone ? ENOMEM : real(memory, alignment, size);
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  delay_first_read(descriptor);
  return real(descriptor, bytes, size);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  note_written(descriptor);
  return fails(descriptor) ? -1 : real(descriptor, bytes, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
  note_written(descriptor);
  return fails(descriptor) ? -1 : real(descriptor, parts, count);
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  if (fault().kind == "unsynced") not_on_disk.erase(path_of(descriptor));
  return fails(descriptor) ? -1 : real(descriptor);
}

int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  check_on_disk(from);
  return fails(from) ? -1 : real(from, to);
}

int unlinkat(int directory, const char* path, int flags) {
  static const auto real = next<int (*)(int, const char*, int)>("unlinkat");
  if (fault().kind == "kill-at" && is_of_checkpoint(directory)) fails("/checkpoints/");
  return real(directory, path, flags);
}

int mkdir(const char* path, mode_t mode) {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  return fails(path) ? -1 : real(path, mode);
}

}  // extern "C"
