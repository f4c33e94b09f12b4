#pragma once

#include <string>

#include "datasets/task.h"
#include "launcher/run/evaluation.h"

namespace ut::launcher {

/// The scores of each of the task's groups and of their ponder times, a line for each; empty where there are none.
std::string describe_groups(const Evaluation& evaluation, const datasets::Task& task);

/// Of all groups together: the mean; of groups that are tasks, as bAbI's in joint training, also how many failed. Empty
/// where there is only one group, or none.
std::string describe_mean(const Evaluation& evaluation, bool groups_are_tasks);

/// "accuracy 0.995 on 1000 questions", or "accuracy 0.981 of symbols, 0.850 of sequences on 1000 sequences" and how the
/// outputs were made; and the ponder times, where positions halt. Of decoded texts a second line: BLEU and its
/// signature.
std::string describe(const Evaluation& evaluation, const datasets::Task& task);

/// The same without the second line: BLEU stands in the first, without its signature.
std::string describe_in_a_line(const Evaluation& evaluation, const datasets::Task& task);

}  // namespace ut::launcher
