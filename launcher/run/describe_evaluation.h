#pragma once

#include <string>

#include "datasets/task.h"
#include "launcher/run/evaluation.h"

namespace ut::launcher {

/// The scores and ponder times of each of the task's groups, a line each; empty if there are no groups.
std::string describe_groups(const Evaluation& evaluation, const datasets::Task& task);

/// The mean over all groups. If groups are tasks, as in bAbI's joint training, also how many failed. Empty if no group
/// was scored, or only one that is not a task.
std::string describe_mean(const Evaluation& evaluation, bool groups_are_tasks);

/// "accuracy 0.995 on 1000 questions", or "accuracy 0.981 of symbols, 0.850 of sequences on 1000 sequences" and how the
/// outputs were made; then the ponder times, if positions halt. Decoded texts have a second line: BLEU and its
/// signature.
std::string describe(const Evaluation& evaluation, const datasets::Task& task);

/// The same in one line: BLEU stands in it, without its signature.
std::string describe_in_a_line(const Evaluation& evaluation, const datasets::Task& task);

}  // namespace ut::launcher
