#include "launcher/options/record_checks.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "launcher/options/option_changes.h"
#include "launcher/options/option_sources.h"
#include "launcher/options/option_table.h"

namespace ut::launcher {
namespace {

/// What of `given` changes the option: that option or, if it is not given, one that sets it, as --dropout does.
std::string option_that_changes(const OptionEntry& changed, const Options& recorded,
                                const std::vector<Assignment>& given) {
  if (std::ranges::find(given, changed.name, &Assignment::name) != given.end()) return changed.name;
  for (const Assignment& assignment : given) {
    Options with_it = recorded;
    find_option(assignment.name, command_train)->set(with_it, assignment.value);
    if (changed.get(with_it) != changed.get(recorded)) return assignment.name;
  }
  return changed.name;
}

}  // namespace

void check_unchanged(const Options& recorded, const Options& options, const std::vector<Assignment>& given) {
  for (const auto& entry : option_table()) {
    if (!entry.belongs_to(command_train) || !entry.recorded || entry.may_change) continue;
    const auto before = entry.get(recorded);
    const auto now = entry.get(options);
    if (before == now) continue;
    const std::string name = option_that_changes(entry, recorded, given);
    throw base::BadInput(
        "--{}: the run in {} has {}{}, which cannot become {} when resuming; leave it out, or start another run with "
        "another --run-dir",
        name, options.run_dir, name == entry.name ? "" : "--" + entry.name + " ", before, now);
  }
}

void check_as_in_checkpoint(const std::string& recorded, const Options& options, const std::string& checkpoint,
                            unsigned command) {
  if (recorded.empty()) return;  // written before options were recorded
  const Options before = as_recorded(recorded, Options(), checkpoint);
  for (const OptionEntry& entry : option_table()) {
    if (!entry.belongs_to(command_train) || !entry.recorded || entry.may_change) continue;
    if (command != command_train && entry.belongs_to(command)) continue;
    const std::string was = entry.get(before);
    if (const std::string now = entry.get(options); now != was)
      throw base::BadInput("{}/{}: {} is {}, but {} in {}: the file was altered; restore that value", options.run_dir,
                           config_name, entry.name, now.empty() ? "not set" : now, was.empty() ? "not set" : was,
                           checkpoint);
  }
}

void check_same_model(const Options& exported, const Options& options, const std::string& from) {
  constexpr std::array of_halting{"halting",  "decoder-halting", "max-steps",
                                  "act-kind", "act-output",      "halting-threshold"};  // the others are for training
  for (const OptionEntry& entry : option_table()) {
    const bool is_of_model =
        entry.group == "Model" && entry.recorded && entry.name != "precision" && !entry.name.ends_with("dropout");
    if (!is_of_model && std::ranges::find(of_halting, entry.name) == of_halting.end()) continue;
    if (const std::string was = entry.get(exported), is = entry.get(options); was != is)
      throw base::BadInput("--{}: {} given, but the model in {} was made with {}; leave it out", entry.name, is, from,
                           was);
  }
}

}  // namespace ut::launcher
