#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/loss.h"
#include "core/model.h"
#include "core/optimizer.h"
#include "dist/gradient_synchronisation.h"
#include "launcher/process/stopwatch.h"
#include "launcher/ranks/non_finite_updates.h"
#include "launcher/run/evaluation.h"
#include "launcher/run/input.h"
#include "launcher/run/ponder_histogram.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/run_state.h"
#include "launcher/run/session.h"
#include "launcher/train/resumed_run.h"
#include "launcher/train/training_log.h"

namespace ut::launcher {

/// The result of one update on this rank.
struct UpdateResult {
  at::Tensor loss;  // this rank's share; the sum over ranks is the update's loss
  double learning_rate;
  at::Tensor gradient_norm;
  std::int64_t rows;              // of all ranks
  PonderHistograms ponder_times;  // of this rank's rows
  const dist::GradientSynchronisation& synchronisation;
};

/// All of a training run that lasts from update to update: model, optimizer, place in the data, scores, checkpoints.
/// Only rank 0 writes, but all ranks take the same decisions. The constructor, report(), check_ranks(), evaluate(),
/// write_checkpoint() and end() are collective; the functions that return bool answer alike on all ranks.
class TrainingRun {
 public:
  /// A new run, or with `--resume` the one in the run directory, at the checkpoint that `--checkpoint` names. Throws
  /// base::BadInput if the run cannot go on from there.
  explicit TrainingRun(Session& session);

  core::Model& model() { return *model_; }
  core::Adam& optimizer() { return optimizer_; }
  std::int64_t update() const { return optimizer_.updates(); }  // updates done
  Input next_input();
  /// How the loss of the update on this batch is computed.
  core::LossOptions loss_of(const datasets::Batch& batch) const;

  /// Adds the ranks' losses, shows and records the update, and lets the ranks agree on stopping. If loss or gradients
  /// are not finite, says which and whose, or throws FailureOfRank, as --on-nonfinite asks.
  void report(const UpdateResult& result);
  bool rank_check_is_due() const;
  /// Throws FailureOfRank if a rank's parameters or moments differ from those of the others.
  void check_ranks();
  bool evaluation_is_due() const;
  /// Scores the validation split; writes a new best as a checkpoint. If a stop is asked for meanwhile, the evaluation
  /// ends without a score; the resumed run begins with one.
  void evaluate();
  bool checkpoint_is_due() const;
  /// Compares the ranks first, if they are compared at all.
  void write_checkpoint();
  bool finished() const;
  /// Writes what is not yet written, scores the best model on the test split and says the score. Returns the exit code.
  int end();

 private:
  /// Goes on from the run's checkpoint.
  void resume();
  /// Scores the best model anew: its score on other examples cannot be compared with those to come.
  void score_best_again();
  /// Gives all ranks the parameters that rank 0 reads, and the moments if `optimizer` is not null. Other ranks may see
  /// the directory late, or another one, and files would be read once for each.
  void load_on_all_ranks(const std::filesystem::path& checkpoint, core::Adam* optimizer);
  /// The parameters alone.
  void load_on_all_ranks(std::int64_t update);
  void point_at_checkpoints() const;
  /// `norms_are_finite`: the gradient's norm is finite on all ranks, whose rounding may differ.
  void note_non_finite(double loss, bool norms_are_finite, const UpdateResult& result);
  void record_updates();
  void say_what_is_trained();
  /// The option that ends training here; empty if none does.
  std::string limit() const;
  RunState state() const;
  /// What a checkpoint records beside the model.
  nlohmann::json record_of_state() const;
  /// Replaces the state in this update's checkpoint, which is there already, as after a stop, and does not tell of what
  /// came after it.
  void replace_state() const;
  double hours() const;
  /// None if a stop is asked for meanwhile.
  std::optional<Evaluation> score(datasets::Split split);
  /// The record of a score for metrics.jsonl.
  nlohmann::ordered_json record_of(datasets::Split split, std::int64_t update, const Evaluation& found) const;
  void score_test_split();

  Session& session_;
  std::unique_ptr<core::Model> model_;
  core::Adam optimizer_;
  Scoring scoring_;        // of evaluations
  std::string scored_on_;  // on which examples they are made, and how
  std::string training_digest_;
  ResumedRun resumed_;  // empty for a new run
  RunState state_;      // the hours and the updates left out are those at the start; see state()
  std::optional<InputAhead> input_;
  std::optional<RunDirectory> directory_;  // rank 0 only
  std::optional<TrainingLog> log_;

  Stopwatch since_start_;
  bool loss_was_not_finite_ = false;  // in the last evaluation
  std::int64_t written_at_ = -1;      // update of the newest checkpoint
  Stopwatch since_written_;
  bool checkpoint_is_old_ = false;  // by rank 0's clock
  std::int64_t compared_at_ = 0;    // update after which ranks were last found to be the same
  NonFiniteUpdates non_finite_;
  bool stop_ = false;  // a stop was asked for
  bool time_is_over_ = false;
};

}  // namespace ut::launcher
