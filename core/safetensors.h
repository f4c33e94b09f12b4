#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace ut::core {

/// The contents of a safetensors file.
struct Safetensors {
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::string> metadata;

  /// Throws base::BadInput, naming the tensor, if there is none of this name.
  const at::Tensor& at(const std::string& name) const;
};

/// Parses a file's bytes. Sizes, shapes and offsets are checked against the bytes before memory is allocated. Throws
/// base::BadInput, with `name` in the message, if the file is damaged or has tensors of other types than below.
Safetensors parse_safetensors(const std::string& bytes, const std::string& name);
Safetensors read_safetensors(const std::filesystem::path& path);

/// The bytes of a file with these tensors (float32, float64, int32, int64). Throws std::runtime_error for other types.
std::string safetensors_bytes(const Safetensors& content);

}  // namespace ut::core
