#pragma once

#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

/// An option that has another value than before.
struct OptionChange {
  std::string name;
  std::string before;
  std::string now;
};

/// Of the recorded options that the command, a bit, takes, those that differ; but which ranks do the work, how much of
/// it at once, and where a translation's pieces lie.
std::vector<OptionChange> changes_between(const Options& before, const Options& now, unsigned command);

/// The options as they were when `recorded` (to_config()) was written; what it does not have as it is now.
Options as_recorded(const std::string& recorded, const Options& now, const std::string& origin);

}  // namespace ut::launcher
