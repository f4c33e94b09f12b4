#include "launcher/process/kept_memory.h"

#include <c10/util/Logging.h>
#include <malloc.h>

#include <limits>

namespace ut::launcher {

void keep_freed_memory() {
  malloc_trim(0);                          // what was freed so far is given back
  constexpr int grown_at_once = 64 << 20;  // bytes
  mallopt(M_MMAP_MAX, 0);                  // a block with a mapping of its own is given back when freed
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, grown_at_once);
}

void throw_when_out_of_memory() { FLAGS_caffe2_use_fatal_for_enforce = false; }

}  // namespace ut::launcher
