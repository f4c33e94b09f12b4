#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/options.h"
#include "datasets/bleu.h"
#include "datasets/subword_training.h"
#include "datasets/task.h"
#include "datasets/task_options.h"
#include "dist/exchange_options.h"

namespace ut::launcher {

/// paper: the papers' equations. tensor2tensor: the authors' code. Sets norm, residual, signal, step signal and ACT
/// output.
enum class Variant { paper, tensor2tensor };

/// Where a rank's tensors live. automatic: on a GPU if this build and this machine can.
enum class DeviceChoice { automatic, cpu, cuda };

/// What carries the ranks' messages. automatic: nccl if each rank has a GPU of its own, otherwise mpi.
enum class CommunicatorChoice { automatic, mpi, nccl };

/// What happens to an update whose gradients are not finite. skip: it is left out, up to a number in a row. stop: the
/// run ends.
enum class OnNonFinite { skip, stop };

/// How outputs are made for scoring: from the model's own symbols, or each symbol from the right ones before it.
enum class Scoring { decoded, teacher_forced };

/// Which score decides. automatic: BLEU for decoded texts, otherwise the accuracy of symbols or answers.
enum class BestBy { automatic, symbols, sequences, bleu };

/// What `ut data …` takes.
struct DataOptions {
  std::string out;  // stories, fetch: directory; sentencepiece: file
  std::int64_t facts = 1;
  std::int64_t train = 10000;  // questions, rounded up to whole stories, as in the next two
  std::int64_t validation = 1000;
  std::int64_t test = 1000;
  datasets::SubwordTraining pieces;
  std::string name;  // fetch: of the data set
  std::string from;  // fetch: directory with its archive; empty: its public address
};

/// What `ut bench` alone takes: a drawn batch, and how it is measured.
struct BenchOptions {
  std::int64_t length = 40;     // source rows of a sequence, and target rows
  std::int64_t min_length = 0;  // lengths are drawn from here to `length`; 0: all have `length`
  std::int64_t vocabulary = 64;
  std::int64_t iterations = 10;  // measured updates
  bool encoder_only = false;
  bool decoder_only = false;
  std::string profile;     // file for a trace of one more update; empty: none
  bool decode = false;     // greedy decoding is measured, not updates
  double ponder = 0;       // mean of ponder times drawn in place of the halting units' decision; 0: not drawn
  double ponder_skew = 0;  // share of the mean that the first half of a sequence ponders more and the second less
};

/// What `ut plan` alone takes. It plans for what `ut bench` measures.
struct PlanOptions {
  std::int64_t nodes = 0;          // 0: as many as the ranks need
  std::int64_t gpus_per_node = 0;  // ranks of a node; 0: ranks / nodes, or the machine's number
  std::string machine;             // accelerator whose data sheet is used; empty: measured
  std::string calibration;         // file of measured numbers
  std::string save_calibration;    // file that the numbers are written to
};

/// What `ut score` takes.
struct ScoreOptions {
  datasets::BleuOptions bleu;
  std::vector<std::string> references;  // files
};

/// What `ut export` and `ut import` take: a model as a directory that other programs read.
struct ModelExchangeOptions {
  std::string out;            // export: the directory that is made
  std::int64_t examples = 0;  // export: number of test examples that are written with their logits
  std::string from;           // import: the directory that is read
};

/// What `ut report` takes.
struct ReportOptions {
  std::vector<std::string> runs;     // directories
  std::vector<std::string> scaling;  // tables that cluster/scaling.sh wrote
  std::string out;                   // file; empty: report.html, NAME.svg or NAME.png in the first run's directory
  std::string svg;                   // the one picture to draw, as SVG; empty: the page
  std::string png;                   // the same as PNG
  std::string stack;          // whose ponder times a picture shows: encoder or decoder; empty: the first that has any
  std::int64_t step = 0;      // of attention in a picture, from 1; 0: all
  std::int64_t layer = 0;     // the same; 0: the first
  std::int64_t head = 0;      // the same; 0: all
  std::int64_t examples = 3;  // number of examples on which a model is shown at work
  std::int64_t first_example = 0;  // of the split
  std::int64_t example_rows = 80;  // most positions of an example, in its source and in its target
  bool no_model = false;           // no model at work

  const std::string& picture() const { return svg.empty() ? png : svg; }
};

/// Everything that the commands take. Directories of data are absolute.
struct Options {
  // train, evaluate, decode, export, import, score, report, bench, plan, doctor, data stories, …; or help, version
  std::string command;
  std::string topic;  // help: the command that is explained, or empty

  datasets::TaskOptions task;

  Variant variant = Variant::paper;
  core::ModelOptions model;  // the task fills in architecture, points, vocabulary and words_per_row
  core::OptimizerOptions optimizer;

  std::int64_t batch = 64;      // sequences per micro-batch, over all ranks; bench: per update
  std::int64_t accumulate = 1;  // micro-batches per update
  std::int64_t batch_rows = 0;  // most rows of a micro-batch, over all ranks; 0: `batch` sequences
  // With batch_rows: successive examples among which like lengths come together; 0: as fill some 16 micro-batches.
  std::int64_t batch_window = 0;
  double label_smoothing = 0.1;
  std::int64_t max_steps = 0;         // of a position that halts by itself; 0: as without halting
  double ponder_weight = 0.002;       // of the mean ponder time, in the loss
  std::int64_t ponder_warmup = 2000;  // updates until ponder_weight is reached
  std::int64_t random_offset = 0;     // largest random offset of positions in training; 0: none
  std::uint64_t seed = 1;             // of parameters, dropout, order of examples; of stories in `ut data`
  std::int64_t max_updates = 5000;
  double max_hours = 0;       // 0: no bound
  double target_score = 0;    // stop once the validation score reaches it; 0: none
  std::int64_t patience = 0;  // stop after so many evaluations in a row without a new best; 0: no bound

  std::int64_t log_every = 10;          // updates
  std::int64_t evaluate_every = 500;    // updates; 0: only at the end
  std::int64_t checkpoint_every = 500;  // updates; 0: only of a new best and at the end
  double checkpoint_minutes = 0;        // since the newest one; 0: none by the clock
  std::int64_t keep_checkpoints = 2;    // newest ones kept, beside the best
  std::int64_t keep_every = 0;          // updates between checkpoints that are kept for good; 0: none is
  OnNonFinite on_nonfinite = OnNonFinite::skip;
  Scoring evaluation_scoring = Scoring::teacher_forced;  // of evaluations in training
  BestBy best_by = BestBy::automatic;                    // which of their scores decides
  std::int64_t nonfinite_limit = 10;                     // updates in a row that may be left out
  std::int64_t check_ranks = 1000;     // updates between comparisons of the ranks' parameters; 0: none
  std::int64_t evaluation_batch = 64;  // sequences, over all ranks
  std::int64_t evaluation_limit = 0;   // examples of a split that are scored, from all over it; 0: all

  std::int64_t ranks = 0;           // asked for on the command line or in --config; 0: not asked for
  std::int64_t recorded_ranks = 0;  // those of the run that is resumed; 0: unknown
  // The same; once the mesh is chosen, the one that the run records.
  std::int64_t recorded_sequence_parallel = 0;
  std::int64_t sequence_parallel = 0;  // ranks that share a sequence; 0: the plan chooses
  dist::ExchangeOptions exchange{dist::ExchangeForm::broadcast, dist::Sent::keys_values,
                                 dist::Cut::zigzag};  // between those ranks; the cut is the decoder's
  bool plan_exchange = false;                         // the plan chooses the exchange instead
  std::int64_t threads = 0;                           // per rank; 0: cores / ranks
  DeviceChoice device = DeviceChoice::automatic;
  CommunicatorChoice communicator = CommunicatorChoice::automatic;
  bool share_gpus = false;     // several ranks may use one GPU
  std::string hostfile;        // hosts that the program starts ranks on; empty: this one
  std::int64_t timeout = 300;  // seconds that a rank waits for the others

  std::vector<int> stop_signals;  // signals that ask for a checkpoint and an end after the update

  std::string run_dir;
  bool resume = false;
  std::string resume_from = "latest";  // a checkpoint: latest, best or update-N
  bool quiet = false;

  datasets::Split split = datasets::Split::test;  // evaluate, report
  std::string checkpoint = "best";                // evaluate, decode, export, report: latest, best or update-N
  // evaluate, decode, export: number of newest checkpoints whose mean is taken; 0: `checkpoint` alone.
  std::int64_t average = 0;
  bool json = false;            // evaluate, decode, score, bench, plan
  bool line_by_line = false;    // decode: each line before the next is read
  bool teacher_forced = false;  // evaluate: score with the right symbols before each, not decoding
  std::string outputs;          // evaluate: file for the output of each example; empty: none
  std::int64_t beam = 1;        // evaluate, decode: 1 is greedy
  double length_penalty = 0.6;  // with a beam above 1
  // Most symbols of an output beyond its source's number; -1: the task decides.
  std::int64_t decode_extra = -1;

  DataOptions data;
  BenchOptions bench;
  PlanOptions plan;
  ScoreOptions score;
  ModelExchangeOptions model_files;
  ReportOptions report;

  /// The shipped settings: a small model that learns the papers' tasks.
  Options();
};

/// Reads what a person typed, without the program's name: `train --task copy …`. The command line overrides `--config
/// FILE`, which overrides the defaults. With `train --resume`, and for evaluate, decode and export, the options that
/// the run directory has recorded are the defaults. Throws base::BadInput, one line, for anything that cannot be used.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace ut::launcher
