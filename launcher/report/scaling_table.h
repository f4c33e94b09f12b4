#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace ut::launcher {

/// Reads a table that cluster/scaling.sh wrote, as an array of rows {column: cell}. A cell is a number if it reads as
/// one, null if it is empty, otherwise text. Throws base::BadInput, naming file and line, if the file is no such table.
nlohmann::ordered_json read_scaling_table(const std::filesystem::path& file);

}  // namespace ut::launcher
