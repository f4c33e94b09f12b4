#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace ut::core {

/// What a safetensors file holds.
struct Safetensors {
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::string> metadata;

  /// Throws base::BadInput, naming the tensor, where there is none of this name.
  const at::Tensor& at(const std::string& name) const;
};

/// Parses a file's bytes; `name` stands in messages. Sizes, shapes and offsets are checked against the bytes there are
/// before memory is taken. Throws base::BadInput.
Safetensors parse_safetensors(const std::string& bytes, const std::string& name);
Safetensors read_safetensors(const std::filesystem::path& path);

/// The bytes of a file with these tensors (float32, float64, int32, int64).
std::string safetensors_bytes(const Safetensors& content);

}  // namespace ut::core
