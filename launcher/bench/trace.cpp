#include "launcher/bench/trace.h"

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

namespace ut::launcher {
namespace {

double microseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();  // the same clock on all ranks of a host
  return std::chrono::duration<double, std::micro>(now).count();
}

const char* category(at::RecordScope scope) {
  if (scope == at::RecordScope::USER_SCOPE) return "scope";
  return scope == at::RecordScope::BACKWARD_FUNCTION ? "backward" : "operation";
}

struct Begun final : at::ObserverContext {
  double microseconds = microseconds_now();
};

}  // namespace

/// LibTorch's callbacks are plain functions, so they look for this in the place of LibTorch's own profiler. LibTorch's
/// allocators expect a MemoryReportingInfoBase there.
class TracedEvents final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t, std::size_t, std::size_t, c10::Device) override {}
  bool memoryProfilingEnabled() const override { return false; }

  static TracedEvents* here() {
    return dynamic_cast<TracedEvents*>(c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE));
  }

  void add(const at::RecordFunction& function, double begin) {
    all_.push_back({function.name(), category(function.scope()), begin, microseconds_now() - begin});
  }

  std::string text(int rank) const {
    std::string text;
    for (const Event& event : all_) {
      const nlohmann::json json{{"name", event.name}, {"cat", event.category},     {"ph", "X"}, {"ts", event.begin},
                                {"pid", rank},        {"dur", event.microseconds}, {"tid", 0}};
      text += (text.empty() ? "" : ",\n") + json.dump();
    }
    return text;
  }

 private:
  struct Event {
    std::string name;
    const char* category;
    double begin;  // microseconds since the epoch
    double microseconds;
  };
  std::vector<Event> all_;
};

Trace::Trace()
    : events_(std::make_shared<TracedEvents>()),
      guard_(c10::DebugInfoKind::PROFILER_STATE, events_),
      callback_(at::addThreadLocalCallback(
          at::RecordFunctionCallback([](const at::RecordFunction&)
                                         -> std::unique_ptr<at::ObserverContext> { return std::make_unique<Begun>(); },
                                     [](const at::RecordFunction& function, at::ObserverContext* begun) {
                                       if (auto* events = TracedEvents::here(); events != nullptr)
                                         events->add(function, static_cast<const Begun*>(begun)->microseconds);
                                     })
              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}))) {}

Trace::~Trace() { at::removeCallback(callback_); }

std::string Trace::events(int rank) const { return events_->text(rank); }

}  // namespace ut::launcher
