#pragma once

#include "launcher/run/session.h"

namespace ut::launcher {

// Each returns the program's exit code and throws for what cannot go on, base::BadInput where what was given is why.

// On ranks.
int train(Session& session);
int evaluate(Session& session);
int decode(Session& session);
int bench(Session& session);
int plan(Session& session);
int doctor(Session& session);

// In one process. What they make is whole or not there; of an imported run that is its checkpoint.
int data_stories(const Options& options);
int data_sentencepiece(const Options& options);
/// 2 for a data set that training would refuse.
int data_check(const Options& options);
/// Fetches a published archive with curl, or takes the one in the folder `--from`, says its licence, compares SHA-256
/// where that is known, of archive and files, and unpacks it with tar.
int data_fetch(const Options& options);
/// Prints the score of standard input's lines against those of the --reference files, and how it was made.
int score_lines(const Options& options);
/// Writes a model as the directory that the README, "Models in and out", describes; see model_files.cpp.
int export_model(const Options& options);
/// Makes a run directory whose one checkpoint, of update 0, is such a model.
int import_model(const Options& options);
/// One page, or one picture, of the runs that the options name.
int report_runs(const Options& options);

/// Whether `ut plan` measures on as many ranks as it is asked to plan for; otherwise one process is enough.
bool plan_measures_ranks(const Options& options);

/// What can be said before ranks start: reads the data and looks at the run directory, writes nothing.
/// Throws base::BadInput.
void check_before_start(const Options& options);

}  // namespace ut::launcher
