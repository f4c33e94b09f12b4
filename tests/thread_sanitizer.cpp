// Part of every program that is built with the thread sanitizer. libgomp, LibTorch and MPI are not built with it, so
// the sanitizer has to be told how they synchronise.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

namespace {

struct Region {
  void (*body)(void*);
  void* data;
};

void run_body(void* given) {
  auto* region = static_cast<Region*>(given);
  __tsan_acquire(region);
  region->body(region->data);
  __tsan_release(region);
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): names that libraries look for

/// Code before a parallel region happens before all its threads, and the threads happen before the code after it.
extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
  static const auto parallel = reinterpret_cast<Parallel>(dlsym(RTLD_NEXT, "GOMP_parallel"));
  Region region{body, data};
  __tsan_release(&region);
  parallel(run_body, &region, threads, flags);
  __tsan_acquire(&region);
}

extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1:halt_on_error=1"; }

// NOLINTEND(bugprone-reserved-identifier)
