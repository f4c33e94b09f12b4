#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launcher/run/appended_file.h"

namespace ut::launcher {

/// The values of one step.
struct StepSummary {
  std::map<std::string, double> scalars;  // by tag
  /// By tag: how often 1, 2, … occurred.
  std::map<std::string, std::vector<std::int64_t>> histograms;
};

/// A record of metrics.jsonl as TensorBoard shows it: numbers under their keys; for ponder times the mean under
/// `ponder/STACK`, the deviation under `ponder_sd/STACK`. The tags of a split begin with its name, those of a group in
/// it with both names.
StepSummary summary_of(const nlohmann::ordered_json& record);

/// One of TensorBoard's event files, to which a run writes the values of its steps.
class EventFile {
 public:
  /// Makes the directory if it is not there, and in it a file that is read after those already there. From `first_step`
  /// on, its values replace those of earlier files. Throws std::runtime_error if it cannot be written.
  EventFile(const std::filesystem::path& directory, std::int64_t first_step);

  /// Hands the values to the system at once; numbers become float32. Throws std::runtime_error, naming the file.
  void add(std::int64_t step, const StepSummary& summary);

 private:
  AppendedFile file_;
};

/// One record of such a file: length, data, and checksums of both (CRC-32C, masked).
std::string event_record(const std::string& data);

}  // namespace ut::launcher
