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

/// What a training run shows, and records in its directory, from update to update. Rank 0 does both. The other ranks
/// have no directory, and take part only when numbers of all ranks are added.
class TrainingLog {
 public:
  /// For a run that goes on after `update`: drops records of later updates. Throws std::runtime_error if a file cannot
  /// be written.
  TrainingLog(const Session& session, const RunDirectory* directory, std::int64_t update);

  /// Print a line for a person; result() even when quiet.
  void say(const std::string& line);
  void result(const std::string& line);
  /// Append to metrics.jsonl; record() also to what TensorBoard shows.
  void note(const nlohmann::ordered_json& record);
  void record(const nlohmann::ordered_json& record);
  /// Returns when what metrics.jsonl has is on the disk. On rank 0 only.
  void sync() const { metrics_->sync(); }
  /// Whether metrics.jsonl has anything; see MetricsLog::has_newest(). On rank 0 only.
  bool has_records() const;
  bool has_newest(const nlohmann::ordered_json& kind, const nlohmann::ordered_json& values) const;

  /// Takes an update: `rows` of all ranks, and this rank's ponder times. rows_per_second and ponder are filled in here.
  void take(const ShownUpdate& update, std::int64_t rows, const PonderHistograms& ponder_times);
  /// Whether updates were taken since the last record.
  bool is_behind() const { return is_behind_; }
  /// Records the updates since the last record. `waited`: seconds waited for input since the start. Collective.
  void record_updates(const core::Steps& steps, double waited, double hours);
  void show(bool last);

  /// start(): training begins. Time and waiting between pause() and go_on() do not count as training's.
  void start();
  void pause();
  void go_on();

 private:
  /// Once, if it is much of the time so far. `waited` of the `seconds` since the last record.
  void say_if_ranks_wait(double waited, double seconds);

  const Session& session_;
  const RunDirectory* directory_;  // rank 0 only, as are the three below
  std::optional<MetricsLog> metrics_;
  std::optional<EventFile> events_;
  std::optional<Progress> progress_;

  Stopwatch since_record_;
  Stopwatch since_pause_;
  ShownUpdate last_;
  bool is_behind_ = false;
  std::int64_t rows_ = 0;  // since the last record, as are the next
  PonderHistograms ponder_times_;
  double waited_before_ = 0;  // for input, in seconds, up to the last record
  dist::WaitedSeconds waited_for_ranks_before_{};
  dist::WaitedSeconds waited_at_pause_{};
  std::optional<double> mean_ponder_;  // of the last record
  bool has_record_ = false;
  bool says_waits_ = false;
  double observed_ = 0;  // seconds, up to when it is said
  double waited_while_observed_ = 0;
};

}  // namespace ut::launcher
