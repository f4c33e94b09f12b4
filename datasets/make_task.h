#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datasets/task_options.h"

namespace ut::datasets {

/// Names that `--task` takes.
std::vector<std::string> task_names();
/// Those of them whose tasks read files.
std::vector<std::string> file_task_names();

/// The task that the options name. Throws base::BadInput if there is no such task, or if its data cannot be read (file
/// and line named), has no examples or lacks a split that is asked for.
std::unique_ptr<Task> make_task(const TaskOptions& options);

}  // namespace ut::datasets
