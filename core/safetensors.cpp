#include "core/safetensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

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

/// A tensor's entry in the header, and its bytes.
struct Entry {
  std::string name;
  at::ScalarType type;
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

std::uint64_t whole_number(const json& value, const char* what) {
  if (!value.is_number_unsigned()) throw std::invalid_argument(fmt::format("{} that are no whole numbers", what));
  return value.get<std::uint64_t>();
}

const json& list_of(const json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end() || !found->is_array()) throw std::invalid_argument(fmt::format("no list {}", name));
  return *found;
}

/// Reads a tensor's entry and checks it against `data`, all tensors' bytes. Throws std::exception if it does not fit.
Entry entry_of(const std::string& name, const json& entry, std::string_view data) {
  constexpr std::size_t most_dimensions = 64;
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string())
    throw std::invalid_argument("no object with dtype, shape and data_offsets");
  const at::ScalarType type = type_named(entry["dtype"].get<std::string>());
  const json& offsets = list_of(entry, "data_offsets");
  if (offsets.size() != 2) throw std::invalid_argument("data_offsets that are not two");
  const std::uint64_t begin = whole_number(offsets[0], "data_offsets");
  const std::uint64_t end = whole_number(offsets[1], "data_offsets");
  if (begin > end || end > data.size()) throw std::invalid_argument("offsets beyond the end of the file");
  const json& sizes = list_of(entry, "shape");
  if (sizes.size() > most_dimensions) throw std::invalid_argument("an impossible shape");
  std::vector<std::int64_t> shape;
  auto bytes = static_cast<std::int64_t>(at::elementSize(type));
  std::int64_t span = bytes;  // bytes as if no size were 0: strides are computed from the others
  for (const json& value : sizes) {
    const std::uint64_t size = whole_number(value, "sizes");
    if (size > std::numeric_limits<std::int64_t>::max()) throw std::invalid_argument("an impossible shape");
    shape.push_back(static_cast<std::int64_t>(size));
    bytes *= size == 0 ? 0 : 1;
    if (__builtin_mul_overflow(span, std::max<std::int64_t>(1, shape.back()), &span))
      throw std::invalid_argument("an impossible shape");
  }
  if (bytes > 0) bytes = span;
  if (std::cmp_not_equal(bytes, end - begin)) throw std::invalid_argument("shape and offsets that do not agree");
  return {name, type, std::move(shape), data.substr(begin, end - begin)};
}

/// An entry that begins before another has ended, or null. Such entries could take more memory than the file's size.
const Entry* find_overlapping(std::vector<Entry>& entries) {
  const auto end_of = [](const Entry& entry) { return entry.bytes.data() + entry.bytes.size(); };
  std::ranges::sort(entries, {}, [&](const Entry& entry) { return std::pair(entry.bytes.data(), end_of(entry)); });
  for (std::size_t place = 1; place < entries.size(); ++place)
    if (end_of(entries[place - 1]) > entries[place].bytes.data()) return &entries[place];
  return nullptr;
}

at::Tensor tensor_of(const Entry& entry) {
  at::Tensor tensor = at::empty(entry.shape, entry.type);
  if (!entry.bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), entry.bytes.data(), entry.bytes.size());
  return tensor;
}

std::map<std::string, std::string> metadata_of(const json& entry) {
  std::map<std::string, std::string> metadata;
  if (!entry.is_object()) throw std::invalid_argument("no object");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) throw std::invalid_argument("a value that is no text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

const at::Tensor& Safetensors::at(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw base::BadInput("no tensor named {}", name);
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
    const auto header = base::parse_json(all.substr(sizeof header_size, header_size));
    if (!header.is_object()) throw std::invalid_argument("not a JSON object");
    const std::string_view data = all.substr(sizeof header_size + header_size);
    Safetensors content;
    std::vector<Entry> entries;
    for (const auto& [key, entry] : header.items()) {
      tensor = key;
      if (key == "__metadata__") {
        content.metadata = metadata_of(entry);
        continue;
      }
      entries.push_back(entry_of(key, entry, data));
    }
    if (const Entry* overlapping = find_overlapping(entries)) {
      tensor = overlapping->name;
      throw std::invalid_argument("shares its bytes with others");
    }
    for (const Entry& entry : entries) content.tensors[entry.name] = tensor_of(entry);
    return content;
  } catch (const std::exception& error) {
    throw base::BadInput("{}: not a whole safetensors file: {}: {}", name, tensor, error.what());
  }
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(base::read_file(path), path.string());
}

std::string safetensors_bytes(const Safetensors& content) {
  json header = json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::size_t end = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const std::size_t begin = std::exchange(end, end + tensor.nbytes());
    header[name] = {
        {"dtype", name_of(tensor.scalar_type())}, {"shape", tensor.sizes().vec()}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // readers prefer aligned data
  const std::uint64_t size = text.size();
  std::string bytes(sizeof size, '\0');
  bytes.reserve(sizeof size + text.size() + end);
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes += text;
  for (const auto& entry : content.tensors) {
    const at::Tensor plain = entry.second.detach().cpu().contiguous();
    bytes.append(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
  }
  return bytes;
}

}  // namespace ut::core
