#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/safetensors.h"

namespace ut::golden {

/// A case needs something that this program or the model under test does not have yet. The message says what.
class NotSupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One file of golden numbers. Remembers which of its arrays were looked at, so that the others can be reported.
class Case {
 public:
  /// Throws base::BadInput if the file is damaged, NotSupported if its metadata does not name its kind.
  explicit Case(const std::filesystem::path& path);

  const std::string& kind() const { return kind_; }
  const nlohmann::json& meta() const { return meta_; }
  /// The hyper-parameters; an empty object if the case has none.
  const nlohmann::json& hparams() const { return hparams_; }

  bool has(const std::string& name) const { return content_.tensors.contains(name); }
  /// Throws base::BadInput, with the name, if there is no such array.
  const at::Tensor& array(const std::string& name) const;
  /// The names that begin with `prefix`, in alphabetical order.
  std::vector<std::string> names(const std::string& prefix) const;
  /// Marks an input that has no effect here as used.
  void mark_used(const std::string& name) const { used_.insert(name); }
  /// The names that begin with `prefix` and are not yet used.
  std::vector<std::string> unused(const std::string& prefix) const;

 private:
  core::Safetensors content_;
  nlohmann::json meta_;
  nlohmann::json hparams_;
  std::string kind_;
  mutable std::set<std::string> used_;
};

}  // namespace ut::golden
