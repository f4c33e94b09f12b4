#include "tests/mpi/stand_in_device.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ut::tests {
namespace {

std::atomic<std::int64_t> bytes_in_use = 0;

/// Maps the same pages twice: where the host sees them without access, and where the device reads and writes them.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    const int file = ::memfd_create("stand-in", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("memfd_create");
    host_ = map(file, PROT_NONE);
    device_ = map(file, PROT_READ | PROT_WRITE);
    ::close(file);
    bytes_in_use += static_cast<std::int64_t>(bytes_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    ::munmap(host_, bytes_);
    ::munmap(device_, bytes_);
    bytes_in_use -= static_cast<std::int64_t>(bytes_);
  }

  void* host() const { return host_; }
  void* device() const { return device_; }

 private:
  void* map(int file, int protection) const {
    void* address = ::mmap(nullptr, bytes_, protection, MAP_SHARED, file, 0);
    if (address == MAP_FAILED) throw std::runtime_error("mmap");
    return address;
  }

  std::size_t bytes_;
  void* host_;
  void* device_;
};

struct MemoryAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, stand_in_device()};
    auto memory = std::make_unique<Memory>(bytes);
    void* address = memory->host();
    return {address, memory.release(), [](void* context) { delete static_cast<Memory*>(context); }, stand_in_device()};
  }
  void copy_data(void*, const void*, std::size_t) const override { throw std::logic_error("not asked for"); }
};

c10::Allocator* allocator() {
  static MemoryAllocator only;
  return &only;
}

/// The tensor as the device sees it; valid as long as the tensor lives.
at::Tensor seen_by_device(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  const auto options = tensor.options().device(at::kCPU);
  if (tensor.numel() == 0) return at::empty(tensor.sizes(), options);
  auto* base = static_cast<char*>(static_cast<Memory*>(tensor.storage().data_ptr().get_context())->device());
  return at::from_blob(base + tensor.storage_offset() * static_cast<std::int64_t>(tensor.element_size()),
                       tensor.sizes(), tensor.strides(), options);
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, allocator(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(
      sizes, strides, allocator(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(type));
}

/// Copies to the host that nobody has waited for yet; until then the host sees zeros.
std::vector<std::pair<at::Tensor, at::Tensor>>& copies_under_way() {
  static std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  return copies;
}

void end_copies() {
  for (const auto& [host, value] : std::exchange(copies_under_way(), {})) host.copy_(value);
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (non_blocking && to.is_cpu()) {
    copies_under_way().emplace_back(to.zero_(), seen_by_device(from).clone());
    return to;
  }
  seen_by_device(to).copy_(seen_by_device(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes())
    to.unsafeGetTensorImpl()->shallow_copy_from(at::empty(from.sizes(), to.options()).getIntrusivePtr());
  return copy_from(from, to, false);
}

at::Scalar number(const at::Tensor& tensor) { return at::native::_local_scalar_dense_cpu(seen_by_device(tensor)); }

void refuse_mixed(const c10::OperatorHandle& operation, const at::Tensor& tensor) {
  TORCH_CHECK(!tensor.defined() || !tensor.is_cpu() || tensor.dim() == 0,
              "stand-in device: ", operation.schema().name(), " of a tensor of the host and one of the device");
}

/// All other operations, which run on copies in host memory.
void compute(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  for (const c10::IValue& argument : torch::jit::last(*stack, operation.schema().arguments().size())) {
    if (argument.isTensor()) refuse_mixed(operation, argument.toTensor());
    if (argument.isTensorList())
      for (const at::Tensor& tensor : argument.toTensorVector()) refuse_mixed(operation, tensor);
  }
  at::native::cpu_fallback(operation, stack);
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", &at::native::view);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &number);
}

at::Device stand_in_device() {
  static const bool registered = [] {
    static Hooks hooks;
    at::RegisterPrivateUse1HooksInterface(&hooks);
    c10::register_privateuse1_backend("standin");
    return true;
  }();
  return {at::kPrivateUse1, static_cast<c10::DeviceIndex>(registered ? 0 : -1)};
}

std::int64_t stand_in_bytes() { return bytes_in_use; }

dist::Staging stand_in_device_staging() {
  return {stand_in_device(), [](const at::Tensor& tensor) { return tensor.is_privateuseone(); },
          [](const at::Tensor& tensor) { return tensor.cpu().contiguous(); },
          [](const at::Tensor& host, const at::Tensor& device) { device.copy_(host); }};
}

}  // namespace ut::tests

namespace c10::impl {
namespace {

/// Operations are done when their call returns, so only copies to the host have to be waited for.
struct StandInGuard final : NoOpDeviceGuardImpl<DeviceType::PrivateUse1> {
  Device exchangeDevice(Device) const override { return {DeviceType::PrivateUse1, 0}; }
  Device getDevice() const override { return {DeviceType::PrivateUse1, 0}; }
  Stream getStream(Device device) const noexcept override { return Stream(Stream::DEFAULT, device); }
  void record(void**, const Stream&, const DeviceIndex, const EventFlag) const override {}
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override { ut::tests::end_copies(); }
};

}  // namespace
C10_REGISTER_GUARD_IMPL(PrivateUse1, StandInGuard)
}  // namespace c10::impl
