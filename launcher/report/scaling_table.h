#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace ut::launcher {

/// A table that cluster/scaling.sh wrote: an array of rows {column: text, or a number where it is one}.
/// Throws base::BadInput, naming file and line, where it is none.
nlohmann::ordered_json read_scaling_table(const std::filesystem::path& file);

}  // namespace ut::launcher
