#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

namespace ut::launcher {

class HeldBytes;

/// Counts the bytes that tensors hold, while it lives: those made by this thread since, less those given back. A tensor
/// that is older and given back meanwhile is not counted either way.
class TensorMemory {
 public:
  TensorMemory();
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;
  ~TensorMemory();

  std::int64_t current() const;
  /// The most that was held at once, since the beginning or the last reset.
  std::int64_t peak() const;
  void reset_peak();

 private:
  std::shared_ptr<HeldBytes> held_;
  c10::DebugInfoGuard guard_;
};

}  // namespace ut::launcher
