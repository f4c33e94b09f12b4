#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

namespace ut::launcher {

class HeldBytes;

/// Counts, while it lives, the bytes of tensors that this thread makes, less those that it gives back. Giving back an
/// older tensor does not count.
class TensorMemory {
 public:
  TensorMemory();
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;
  ~TensorMemory();

  std::int64_t current() const;
  /// The most bytes held at once since the beginning or the last reset.
  std::int64_t peak() const;
  void reset_peak();

 private:
  std::shared_ptr<HeldBytes> held_;
  c10::DebugInfoGuard guard_;
};

}  // namespace ut::launcher
