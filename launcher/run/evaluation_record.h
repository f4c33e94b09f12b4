#pragma once

#include <nlohmann/json_fwd.hpp>

#include "launcher/run/evaluation.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// Whether the task's groups are tasks themselves, as bAbI's in joint training.
bool groups_are_tasks(const Options& options);

/// What an evaluation found, in the form that records have:
///   "accuracy": of answers or symbols, "sequence_accuracy": share of sequences that are wholly right, "sequences"
///   "bleu", "bleu_signature", for German also "bleu_tokenised_split": if outputs are text and were decoded
///   "ponder": {stack: {"mean", "sd", "histogram", "running"}}, of stacks that halt
///   "groups": {name: the same, without "sequence_accuracy"}; "mean_of_groups"; if groups are tasks, "failed_tasks" and
///     "mean_error"
///   "loss": cross entropy per label, without smoothing, if each symbol was scored after the right ones
///   "perplexity", and how many "labels" it is of: for language models
nlohmann::ordered_json to_json(const Evaluation& found, const Session& session);

}  // namespace ut::launcher
