#pragma once

#include <string>
#include <vector>

#include "datasets/task_options.h"

namespace ut::datasets {

/// What a data set holds and what is wrong with it, one line an entry.
struct DataCheck {
  std::string options;  // with which `ut train` reads these files, as typed; empty if it refuses them
  std::vector<std::string> description;
  std::vector<std::string> warnings;  // training goes on with these
  std::vector<std::string> errors;    // training refuses these
};

/// Reads the files of the task that the options name as training would, and looks at each line. Reads all bAbI tasks
/// that are there, and agreement in the form that the files are of. Throws base::BadInput if there is no such
/// directory.
DataCheck check_data(const TaskOptions& options);

/// The tasks whose files the directory has. Throws base::BadInput if there are none.
std::vector<std::string> tasks_of_files(const TaskOptions& options);

}  // namespace ut::datasets
