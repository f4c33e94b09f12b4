#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launcher/run/appended_file.h"

namespace ut::launcher {

/// What a step came to.
struct StepSummary {
  std::map<std::string, double> scalars;  // by tag
  /// By tag: how often 1, 2, … came.
  std::map<std::string, std::vector<std::int64_t>> histograms;
};

/// A record of metrics.jsonl as TensorBoard shows it: numbers under their keys, of ponder times the mean under
/// `ponder/` and the stack's, their deviation under `ponder_sd/`; of a split after the split's name, of a group in it
/// after both.
StepSummary summary_of(const nlohmann::ordered_json& record);

/// A file of TensorBoard's in a directory of such files, to which a run writes what its steps came to.
class EventFile {
 public:
  /// Makes the directory where it is not there, and in it a file that is read after those that are. From `first_step`
  /// on, this file's values take the place of earlier files'. Throws std::runtime_error where it cannot be written.
  EventFile(const std::filesystem::path& directory, std::int64_t first_step);

  /// Hands it to the system at once; numbers become float32. Throws std::runtime_error, naming the file.
  void add(std::int64_t step, const StepSummary& summary);

 private:
  AppendedFile file_;
};

/// One record of such a file: length, data, and checksums of both (CRC-32C, masked).
std::string event_record(const std::string& data);

}  // namespace ut::launcher
