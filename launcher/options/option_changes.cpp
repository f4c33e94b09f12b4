#include "launcher/options/option_changes.h"

#include <map>

#include "launcher/options/config_text.h"
#include "launcher/options/option_table.h"

namespace ut::launcher {

std::vector<OptionChange> changes_between(const Options& before, const Options& now, unsigned command) {
  std::vector<OptionChange> changes;
  for (const OptionEntry& entry : option_table()) {
    const bool is_of_the_work = entry.group == "Ranks" || entry.group == "Memory" || entry.name == "balance" ||
                                entry.name == "evaluation-batch";
    const bool only_names_a_place = entry.name == "sentencepiece";  // other pieces than a run's are refused
    if (!entry.belongs_to(command) || !entry.recorded || is_of_the_work || only_names_a_place) continue;
    const OptionChange change{entry.name, entry.get(before), entry.get(now)};
    if (change.before != change.now) changes.push_back(change);
  }
  return changes;
}

Options as_recorded(const std::string& recorded, const Options& now, const std::string& origin) {
  if (recorded.empty()) return now;  // written before options were recorded
  std::map<std::string, std::string> values;
  for (const ConfigLine& line : config_lines(recorded, origin)) values[line.name] = line.value;
  Options before;
  for (const bool sets_others : {true, false})
    for (const OptionEntry& entry : option_table()) {
      if (!entry.belongs_to(command_train) || !entry.recorded || entry.sets_others != sets_others) continue;
      const auto found = values.find(entry.name);
      if (found != values.end())
        entry.set(before, found->second);
      else if (!entry.get(before).empty())  // recorded whenever it was known; otherwise it was not given
        entry.set(before, entry.get(now));
    }
  return before;
}

}  // namespace ut::launcher
