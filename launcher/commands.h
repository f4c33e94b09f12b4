#pragma once

#include "launcher/run/session.h"

namespace ut::launcher {

// Each command returns the program's exit code. A command that cannot go on throws, base::BadInput if its input is the
// cause.

// Commands that run on all ranks.
int train(Session& session);
int evaluate(Session& session);
int decode(Session& session);
int bench(Session& session);
int plan(Session& session);
int doctor(Session& session);

// Commands that run in one process. Their output is either complete or absent; for an imported run this holds for its
// checkpoint.
int data_stories(const Options& options);
int data_sentencepiece(const Options& options);
/// Returns 2 for a data set that training would refuse.
int data_check(const Options& options);
/// Fetches a published archive with curl, or takes it from the folder `--from`. Prints its licence, compares the
/// SHA-256 of the archive and its files where known, and unpacks it with tar.
int data_fetch(const Options& options);
/// Prints the BLEU score of standard input's lines against those of the --reference files, with the score's signature.
int score_lines(const Options& options);
/// Writes a model as the directory that the README, "Models in and out", describes; see model_files.cpp.
int export_model(const Options& options);
/// Makes a run directory from such a model. Its one checkpoint is of update 0.
int import_model(const Options& options);
/// Writes one page, or one picture, of the runs that the options name.
int report_runs(const Options& options);

/// Whether `ut plan` measures on as many ranks as it plans for; otherwise one process is enough.
bool plan_measures_ranks(const Options& options);

/// Makes the checks that are possible before ranks start: reads the data and inspects the run directory, but writes
/// nothing. Throws base::BadInput.
void check_before_start(const Options& options);

}  // namespace ut::launcher
