#pragma once

#include <nlohmann/json_fwd.hpp>

#include "launcher/run/evaluation.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// Whether the task's groups are tasks of their own, as bAbI's in joint training.
bool groups_are_tasks(const Options& options);

/// What an evaluation found, as records have it:
///   "accuracy": of answers or symbols, "sequence_accuracy": share of sequences that are right in all, "sequences"
///   "bleu", "bleu_signature", of German also "bleu_tokenised_split": where outputs are text and were decoded
///   "ponder": {stack: {"mean", "sd", "histogram", "running"}}, of stacks that halt
///   "groups": {name: likewise}; "mean_of_groups"; where groups are tasks "failed_tasks" and "mean_error"
///   "loss": cross entropy a label, without smoothing, where each symbol was said after the right ones
///   "perplexity", and of how many "labels": of language models
nlohmann::ordered_json to_json(const Evaluation& found, const Session& session);

}  // namespace ut::launcher
