#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ut::core {

/// Reads a checkpoint's state, which may have been edited by hand. Each function returns `otherwise` if there is no
/// such field, and throws base::BadInput, naming file and field, if the field is of another kind.
class StateReader {
 public:
  /// `state` must outlive this.
  StateReader(const nlohmann::json& state, const std::filesystem::path& checkpoint);

  std::string text(const std::string& field, const std::string& otherwise) const;
  /// A whole number; throws base::BadInput also if it is below `least`.
  std::int64_t whole(const std::string& field, std::int64_t otherwise, std::int64_t least = 0) const;
  double number(const std::string& field, double otherwise) const;

 private:
  const nlohmann::json& state_;
  std::filesystem::path file_;
};

}  // namespace ut::core
