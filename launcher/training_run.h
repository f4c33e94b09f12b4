#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/loss.h"
#include "core/model.h"
#include "core/optimizer.h"
#include "core/state_reader.h"
#include "dist/gradient_synchronisation.h"
#include "launcher/process/stopwatch.h"
#include "launcher/ranks/rank_checks.h"
#include "launcher/run/best_score.h"
#include "launcher/run/evaluation.h"
#include "launcher/run/event_file.h"
#include "launcher/run/input.h"
#include "launcher/run/metrics.h"
#include "launcher/run/ponder_counts.h"
#include "launcher/run/progress.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// What one update came to on this rank.
struct UpdateResult {
  at::Tensor loss;  // this rank's share; the sum over ranks is the update's loss
  double learning_rate;
  at::Tensor gradient_norm;
  std::int64_t rows;  // of all ranks
  Pondered pondered;  // this rank's rows
  const dist::GradientSynchronisation& synchronisation;
};

/// All of a training run that lasts from update to update: model, optimizer, place in the data, scores, and what is
/// written of it. Rank 0 writes; all ranks take the same decisions. Every member function is collective.
class TrainingRun {
 public:
  /// A new run, or with `--resume` the one in the run directory, at its latest checkpoint.
  /// Throws base::BadInput where that cannot be taken up.
  explicit TrainingRun(Session& session);

  core::Model& model() { return *model_; }
  core::Adam& optimizer() { return optimizer_; }
  std::int64_t update() const { return optimizer_.updates(); }  // updates done
  Input next_input();
  /// What the loss of the update on this batch is made of.
  core::LossOptions loss_of(const datasets::Batch& batch) const;

  /// Adds the ranks' losses, shows and records the update, and lets the ranks agree on stopping. Where loss or
  /// gradients are not finite, says which and whose, or throws FailureOfRank, as --on-nonfinite has it.
  void report(const UpdateResult& result);
  bool rank_check_is_due() const;
  /// Throws FailureOfRank where a rank's parameters are not those of the others.
  void check_ranks();
  bool evaluation_is_due() const;
  /// Scores the validation split; a new best is written as a checkpoint. A stop that is asked for meanwhile comes
  /// first: the run then begins with this when it goes on.
  void evaluate();
  bool checkpoint_is_due() const;
  /// Where ranks are compared at all, they are before this.
  void write_checkpoint();
  bool finished() const;
  /// Writes what is not yet written; scores the best model on the test split and says so. Returns the exit code.
  int end();

 private:
  /// Returns what tells the run's state, which is all read from files, from others.
  std::string resume();
  /// Adds to what is said of resuming: data and options that are not those of the checkpoint.
  void say_what_changes(const core::StateReader& read, const std::filesystem::path& checkpoint);
  /// Adds to it what is dropped of later updates. Throws base::BadInput where nothing would come in its place.
  void check_that_something_comes();
  /// Of other examples than those to come, a score cannot be compared.
  void score_best_again();
  /// The parameters that rank 0 reads; the moments stay. Ranks may see the directory late, or another one.
  void load_on_all_ranks(std::int64_t update);
  void point_at_checkpoints() const;
  void look_at(const Report& shown, const UpdateResult& result);
  /// Records the updates since the last record.
  void log();
  void say_what_is_trained();
  /// Which limit the run has reached.
  std::string nothing_left() const;
  /// What a checkpoint says beside the model.
  nlohmann::json state() const;
  /// In the checkpoint that is there already, as after a stop, which does not tell of what came after.
  void replace_state() const;
  /// Into metrics.jsonl, and for TensorBoard.
  void write_down(const nlohmann::ordered_json& record);
  double hours() const;
  /// None where somebody asks for a stop meanwhile.
  std::optional<Evaluation> score(datasets::Split split);
  /// A score for metrics.jsonl.
  nlohmann::ordered_json record_of(datasets::Split split, std::int64_t update, const Evaluation& found) const;
  void score_test_split();

  Session& session_;
  std::unique_ptr<core::Model> model_;
  core::Adam optimizer_;
  datasets::Cursor cursor_;  // of the next update
  std::optional<InputAhead> input_;
  std::optional<RunDirectory> directory_;  // rank 0 only, with the three below
  std::optional<MetricsLog> metrics_;
  std::optional<EventFile> events_;
  std::optional<Progress> progress_;

  Stopwatch since_start_;
  Stopwatch since_log_;  // but for evaluations and checkpoints: rows per second are those of training
  std::int64_t rows_since_log_ = 0;
  double waited_at_log_ = 0;  // for input, in seconds
  Pondered pondered_since_log_;
  std::optional<Report> unrecorded_;          // of the last update, until it is recorded
  std::optional<double> mean_ponder_;         // of the last record
  double earlier_hours_ = 0;                  // of the run before it was resumed
  std::optional<BestScore> best_;             // of validation; its checkpoint is there
  std::string scored_on_;                     // which examples evaluations are made on
  bool best_is_of_others_ = false;            // scored on other examples
  std::optional<std::int64_t> damaged_best_;  // update of the best that cannot be read any more
  std::int64_t evaluated_at_ = -1;
  std::vector<std::string> said_of_resuming_;
  std::int64_t written_at_ = -1;  // update of the newest checkpoint
  std::int64_t compared_at_ = 0;  // update after which ranks were found to be the same
  NonFiniteUpdates non_finite_;
  bool stop_ = false;  // somebody asked for it
  bool time_is_over_ = false;
};

}  // namespace ut::launcher
