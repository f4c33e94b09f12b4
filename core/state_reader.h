#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ut::core {

/// What a checkpoint's state says, which somebody may have written by hand. Each function throws base::BadInput, naming
/// file and field, where the field is of another kind; where there is none it gives `otherwise`.
class StateReader {
 public:
  StateReader(const nlohmann::json& state, const std::filesystem::path& checkpoint);

  std::string text(const std::string& field, const std::string& otherwise) const;
  /// At least `least`.
  std::int64_t whole(const std::string& field, std::int64_t otherwise, std::int64_t least = 0) const;
  double number(const std::string& field, double otherwise) const;

 private:
  const nlohmann::json& state_;
  std::filesystem::path file_;
};

}  // namespace ut::core
