#pragma once

#include <cstdint>
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
#include "launcher/run/best_score.h"
#include "launcher/run/evaluation.h"
#include "launcher/run/input.h"
#include "launcher/run/ponder_histogram.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/session.h"
#include "launcher/train/resumed_run.h"
#include "launcher/train/training_log.h"

namespace ut::launcher {

/// What one update came to on this rank.
struct UpdateResult {
  at::Tensor loss;  // this rank's share; the sum over ranks is the update's loss
  double learning_rate;
  at::Tensor gradient_norm;
  std::int64_t rows;              // of all ranks
  PonderHistograms ponder_times;  // this rank's rows
  const dist::GradientSynchronisation& synchronisation;
};

/// All of a training run that lasts from update to update: model, optimizer, place in the data, scores, checkpoints.
/// Rank 0 writes; all ranks take the same decisions: report(), check_ranks(), evaluate(), write_checkpoint() and end()
/// are collective, as is the constructor, and what is asked is answered alike on all.
class TrainingRun {
 public:
  /// A new run, or with `--resume` the one in the run directory, at the checkpoint that `--checkpoint` names.
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
  /// Takes the run up at its checkpoint.
  void resume();
  /// Of other examples than those to come, a score cannot be compared.
  void score_best_again();
  /// The parameters that rank 0 reads; the moments stay. Ranks may see the directory late, or another one.
  void load_on_all_ranks(std::int64_t update);
  void point_at_checkpoints() const;
  /// `norms_are_finite`: those of the gradient on all ranks, which may round one another's differently.
  void note_non_finite(double loss, bool norms_are_finite, const UpdateResult& result);
  void record_updates();
  void say_what_is_trained();
  /// The option that ends training here; empty: none does.
  std::string limit() const;
  /// What a checkpoint says beside the model.
  nlohmann::json state() const;
  /// In the checkpoint that is there already, as after a stop, which does not tell of what came after.
  void replace_state() const;
  double hours() const;
  /// None where somebody asks for a stop meanwhile.
  std::optional<Evaluation> score(datasets::Split split);
  /// A score for metrics.jsonl.
  nlohmann::ordered_json record_of(datasets::Split split, std::int64_t update, const Evaluation& found) const;
  void score_test_split();

  Session& session_;
  std::unique_ptr<core::Model> model_;
  core::Adam optimizer_;
  Scoring scoring_;          // of evaluations
  std::string scored_on_;    // which examples they are made on, and how
  ResumedRun resumed_;       // of a new run: nothing
  datasets::Cursor cursor_;  // of the next update
  std::optional<InputAhead> input_;
  std::optional<RunDirectory> directory_;  // rank 0 only
  std::optional<TrainingLog> log_;

  Stopwatch since_start_;
  std::optional<BestScore> best_;  // of validation; its checkpoint is there
  std::int64_t evaluations_since_best_ = 0;
  std::int64_t evaluated_at_ = -1;
  bool is_spoilt_ = false;        // what was evaluated then
  std::int64_t written_at_ = -1;  // update of the newest checkpoint
  Stopwatch since_written_;
  bool checkpoint_is_old_ = false;  // as rank 0's clock has it
  std::int64_t compared_at_ = 0;    // update after which ranks were found to be the same
  NonFiniteUpdates non_finite_;
  bool stop_ = false;  // somebody asked for it
  bool time_is_over_ = false;
};

}  // namespace ut::launcher
