#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>
#include <string>

namespace ut::launcher {

class TracedEvents;

/// Records, while it lives, what this thread does and when: LibTorch's operations, their backward functions, and the
/// scopes that the code names (steps, attention, waiting for other ranks).
class Trace {
 public:
  Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  /// The events as JSON objects with commas between them, in the format that Perfetto and Chrome's about:tracing open.
  /// `rank` is given as the process.
  std::string events(int rank) const;

 private:
  std::shared_ptr<TracedEvents> events_;
  c10::DebugInfoGuard guard_;
  std::uint64_t callback_;
};

}  // namespace ut::launcher
