#include "core/safetensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace ut::core {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr std::array<std::pair<const char*, at::ScalarType>, 4> types{
    {{"F32", at::kFloat}, {"F64", at::kDouble}, {"I32", at::kInt}, {"I64", at::kLong}}};

at::ScalarType type_named(const std::string& name) {
  for (const auto& [text, type] : types)
    if (name == text) return type;
  throw std::invalid_argument(fmt::format("data type {} (F32, F64, I32 and I64 are known)", name));
}

const char* name_of(at::ScalarType type) {
  for (const auto& [text, known] : types)
    if (known == type) return text;
  throw std::runtime_error(fmt::format("safetensors: no name for data type {}", toString(type)));
}

/// One header entry and its bytes. Throws std::exception where they do not fit.
at::Tensor tensor_of(const json& entry, std::string_view data) {
  const auto type = type_named(entry.at("dtype").get<std::string>());
  const auto shape = entry.at("shape").get<std::vector<std::int64_t>>();
  const auto begin = entry.at("data_offsets").at(0).get<std::uint64_t>();
  const auto end = entry.at("data_offsets").at(1).get<std::uint64_t>();
  if (begin > end || end > data.size()) throw std::invalid_argument("offsets beyond the end of the file");
  std::uint64_t bytes = at::elementSize(type);
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
      throw std::invalid_argument("an impossible shape");
  if (bytes != end - begin) throw std::invalid_argument("shape and offsets that do not agree");
  at::Tensor tensor = at::empty(shape, type);
  if (bytes > 0) std::memcpy(tensor.mutable_data_ptr(), data.data() + begin, bytes);
  return tensor;
}

}  // namespace

const at::Tensor& Safetensors::at(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw base::BadInput(fmt::format("no tensor named {}", name));
  return found->second;
}

Safetensors parse_safetensors(const std::string& bytes, const std::string& name) {
  std::string tensor = "its header";
  try {
    std::uint64_t header_size = 0;
    if (bytes.size() < sizeof header_size) throw std::invalid_argument("cut short");
    std::memcpy(&header_size, bytes.data(), sizeof header_size);
    if (header_size > bytes.size() - sizeof header_size) throw std::invalid_argument("longer than the file");
    const std::string_view all(bytes);
    const json header = json::parse(all.substr(sizeof header_size, header_size));
    if (!header.is_object()) throw std::invalid_argument("not a JSON object");
    const std::string_view data = all.substr(sizeof header_size + header_size);
    Safetensors content;
    std::size_t taken = 0;
    for (const auto& [key, entry] : header.items()) {
      tensor = key;
      if (key == "__metadata__") {
        content.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      content.tensors[key] = tensor_of(entry, data);
      taken += content.tensors[key].nbytes();
      if (taken > data.size()) throw std::invalid_argument("shares its bytes with others");
    }
    return content;
  } catch (const std::exception& error) {
    throw base::BadInput(fmt::format("{}: not a whole safetensors file: {}: {}", name, tensor, error.what()));
  }
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(base::read_file(path), path.string());
}

std::string safetensors_bytes(const Safetensors& content) {
  json header = json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::string data;
  for (const auto& [name, tensor] : content.tensors) {
    const at::Tensor plain = tensor.detach().cpu().contiguous();
    const std::size_t begin = data.size();
    data.append(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
    header[name] = {{"dtype", name_of(plain.scalar_type())},
                    {"shape", plain.sizes().vec()},
                    {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // readers like aligned data
  const std::uint64_t size = text.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + text + data;
}

}  // namespace ut::core
