#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "launcher/run/appended_file.h"

namespace ut::launcher {

/// A file of one JSON object a line, to which a run appends what it measures. Numbers keep their full precision, so
/// that runs that are equal have equal files.
class MetricsLog {
 public:
  /// Opens the file for appending after the lines of updates up to `update`; drops what is later, which a run that
  /// resumes there writes again. Throws std::runtime_error, naming the file, where it cannot be written.
  MetricsLog(const std::filesystem::path& path, std::int64_t update);

  /// Writes one line, in the keys' order, and hands it to the system at once. Numbers that JSON has no form for (NaN,
  /// infinity) become null. Throws std::runtime_error, naming the file, where it cannot be written.
  void append(const nlohmann::ordered_json& record);

  /// Whether the newest of the lines that have the values of `kind` has all of `values`, fractions to a thousandth:
  /// what was computed on another mesh has other last bits.
  bool has_newest(const nlohmann::ordered_json& kind, const nlohmann::ordered_json& values) const;

 private:
  AppendedFile file_;
};

/// Drops the lines of updates after `update` (of evaluations, of any such), and whatever a kill has left torn: the file
/// is the old one or the new one, whole. Does nothing where there is no file. Throws std::runtime_error where it cannot
/// be written.
void truncate_after(const std::filesystem::path& path, std::int64_t update);

/// The newest update that a line tells of; none where there is none.
std::optional<std::int64_t> newest_update(const std::filesystem::path& path);

}  // namespace ut::launcher
