#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "launcher/run/appended_file.h"

namespace ut::launcher {

/// A file of one JSON object a line, to which a run appends what it measures. Numbers keep their full precision, so
/// that equal runs have equal files.
class MetricsLog {
 public:
  /// Opens the file for appending after the lines of updates up to `update`. Drops later lines, which a run that
  /// resumes there writes again. Throws std::runtime_error, naming the file, if it cannot be written.
  MetricsLog(const std::filesystem::path& path, std::int64_t update);

  /// Writes one line, in the keys' order, and hands it to the system at once. NaN and infinity, which JSON does not
  /// have, become null. Throws std::runtime_error, naming the file, if it cannot be written.
  void append(const nlohmann::ordered_json& record);

  /// Returns when all lines are on the disk. Throws like append().
  void sync() const { file_.sync(); }

  /// Whether the newest of the lines with the values of `kind` has all of `values`. Fractions need only agree to a
  /// thousandth, because what was computed on another mesh has other last bits.
  bool has_newest(const nlohmann::ordered_json& kind, const nlohmann::ordered_json& values) const;

 private:
  AppendedFile file_;
};

/// Drops the lines of updates after `update` (of evaluations: of any such update), and lines that a kill has left torn.
/// At any time the file is either the old one or the new one, whole. Does nothing if there is no file. Throws
/// std::runtime_error if it cannot be written.
void truncate_after(const std::filesystem::path& path, std::int64_t update);

/// The newest update in any line; none if there is none.
std::optional<std::int64_t> newest_update(const std::filesystem::path& path);

}  // namespace ut::launcher
