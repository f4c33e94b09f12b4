#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datasets/task_options.h"

namespace ut::datasets {

/// Names that `--task` takes.
std::vector<std::string> task_names();
/// Those of them that read files.
std::vector<std::string> file_task_names();

/// Throws base::BadInput (file and line named) where the data cannot be read, has no examples or not that split.
std::unique_ptr<Task> make_task(const TaskOptions& options);

}  // namespace ut::datasets
