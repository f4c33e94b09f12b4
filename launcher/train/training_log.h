#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/model.h"
#include "launcher/process/stopwatch.h"
#include "launcher/run/event_file.h"
#include "launcher/run/metrics.h"
#include "launcher/run/ponder_histogram.h"
#include "launcher/run/progress.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// What is shown of a training run, and recorded in its directory, from update to update. Rank 0 does both; the others
/// have no directory, and take part where numbers of all ranks are added.
class TrainingLog {
 public:
  /// A run that goes on after `update`: records of later ones are dropped. Throws std::runtime_error where a file
  /// cannot be written.
  TrainingLog(const Session& session, const RunDirectory* directory, std::int64_t update);

  /// A line for a person, and one even when quiet.
  void say(const std::string& line);
  void result(const std::string& line);
  /// Appends to metrics.jsonl; the second to what TensorBoard shows, too.
  void note(const nlohmann::ordered_json& record);
  void record(const nlohmann::ordered_json& record);
  /// Whether metrics.jsonl has anything; see MetricsLog::has_newest(). Of rank 0.
  bool has_records() const;
  bool has_newest(const nlohmann::ordered_json& kind, const nlohmann::ordered_json& values) const;

  /// An update: its rows of all ranks, and this rank's ponder times. The report lacks what is known here.
  void take(const ShownUpdate& update, std::int64_t rows, const PonderHistograms& ponder_times);
  /// Whether updates were taken since the last record.
  bool is_behind() const { return is_behind_; }
  /// Records the updates since the last record. `waited`: for input, in seconds since the start. Collective.
  void record_updates(const core::Steps& steps, double waited, double hours);
  void show(bool last);

  /// Training begins, and pauses: time and waiting from there to go_on() are not its own.
  void start();
  void pause();
  void go_on();

 private:
  const Session& session_;
  const RunDirectory* directory_;  // rank 0 only, with the three below
  std::optional<MetricsLog> metrics_;
  std::optional<EventFile> events_;
  std::optional<Progress> progress_;

  Stopwatch since_record_;
  Stopwatch since_pause_;
  ShownUpdate last_;
  bool is_behind_ = false;
  std::int64_t rows_ = 0;  // since the last record, as the next
  PonderHistograms ponder_times_;
  double waited_before_ = 0;  // for input, in seconds
  dist::WaitedSeconds waited_for_ranks_before_{};
  dist::WaitedSeconds waited_at_pause_{};
  std::optional<double> mean_ponder_;  // of the last record
};

}  // namespace ut::launcher
