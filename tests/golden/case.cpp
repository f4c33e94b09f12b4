#include "tests/golden/case.h"

#include <ATen/ATen.h>

namespace ut::golden {

Case::Case(const std::filesystem::path& path)
    : content_(core::read_safetensors(path)), hparams_(nlohmann::json::object()) {
  const auto found = content_.metadata.find("meta");
  if (found == content_.metadata.end()) throw NotSupported("its metadata has no \"meta\"");
  meta_ = nlohmann::json::parse(found->second);
  if (!meta_.contains("kind")) throw NotSupported("its \"meta\" has no \"kind\"");
  kind_ = meta_.at("kind").get<std::string>();
  if (meta_.contains("hparams")) hparams_ = meta_.at("hparams");
}

const at::Tensor& Case::array(const std::string& name) const {
  used_.insert(name);
  return content_.at(name);
}

std::vector<std::string> Case::names(const std::string& prefix) const {
  std::vector<std::string> result;
  for (const auto& [name, tensor] : content_.tensors)
    if (name.starts_with(prefix)) result.push_back(name);
  return result;
}

std::vector<std::string> Case::unused(const std::string& prefix) const {
  std::vector<std::string> result = names(prefix);
  std::erase_if(result, [&](const std::string& name) { return used_.contains(name); });
  return result;
}

}  // namespace ut::golden
