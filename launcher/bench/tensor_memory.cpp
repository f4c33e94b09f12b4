#include "launcher/bench/tensor_memory.h"

#include <c10/core/Allocator.h>

#include <algorithm>

namespace ut::launcher {

/// LibTorch's allocators report to whatever stands in the profiler's place.
class HeldBytes final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override {
    current_ += bytes;  // negative if memory is given back
    peak_ = std::max(peak_, current_);
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t current() const { return current_; }
  std::int64_t peak() const { return peak_; }
  void reset_peak() { peak_ = current_; }

 private:
  std::int64_t current_ = 0;
  std::int64_t peak_ = 0;
};

TensorMemory::TensorMemory()
    : held_(std::make_shared<HeldBytes>()), guard_(c10::DebugInfoKind::PROFILER_STATE, held_) {}
TensorMemory::~TensorMemory() = default;

std::int64_t TensorMemory::current() const { return held_->current(); }
std::int64_t TensorMemory::peak() const { return held_->peak(); }
void TensorMemory::reset_peak() { held_->reset_peak(); }

}  // namespace ut::launcher
