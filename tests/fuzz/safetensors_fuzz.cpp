// A file of tensors.

#include <ATen/ATen.h>

#include "core/safetensors.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ut;
  const std::string content(reinterpret_cast<const char*>(data), size);
  tests::try_action([&] {
    const core::Safetensors read = core::parse_safetensors(content, "file");
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : read.tensors) bytes += tensor.nbytes();
    tests::require(bytes <= size, "more bytes than the file has");
    const std::string written = core::safetensors_bytes(read);
    const core::Safetensors again = core::parse_safetensors(written, "again");
    tests::require(again.metadata == read.metadata && again.tensors.size() == read.tensors.size(), "other names");
    for (const auto& [name, tensor] : read.tensors)
      tests::require(again.at(name).sizes() == tensor.sizes() && again.at(name).dtype() == tensor.dtype(),
                     "other tensors than were written");
  });
  return 0;
}
