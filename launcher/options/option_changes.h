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

/// The recorded options of the command, a bit, whose values differ. Left out are options that only say which ranks do
/// the work, how much of it at once, or where a translation's pieces lie.
std::vector<OptionChange> changes_between(const Options& before, const Options& now, unsigned command);

/// The options as they were when to_config() wrote `recorded`. Options missing there were not given or,
/// if they have a default, not known: those have their value in `now`. `origin` names the text in messages.
Options as_recorded(const std::string& recorded, const Options& now, const std::string& origin);

}  // namespace ut::launcher
