#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

/// The commands that take options, as bits: an option names those that know it.
enum Command : unsigned {
  command_train = 1,
  command_evaluate = 2,
  command_decode = 4,
  command_data_stories = 8,
  command_bench = 16,
  command_plan = 32,
  command_doctor = 64,
  command_score = 128,
  command_data_sentencepiece = 256,
  command_data_check = 512,
  command_data_fetch = 1024,
  command_data = command_data_stories | command_data_sentencepiece | command_data_check | command_data_fetch,
  command_report = 1U << 11,
  command_export = 1U << 12,
  command_import = 1U << 13
};

/// One option: the parser, the help, the saved configuration and the rules for resuming are all made from this.
struct OptionEntry {
  std::string group;
  std::string name;
  unsigned commands = 0;
  std::string placeholder;  // of the value in the help; empty: a flag, which takes no value
  std::string description;
  std::string expected;       // what a right value is, after "needs"
  std::string most;           // the largest number, where `expected` does not say it
  bool sets_others = false;   // applied before the others of its source, because it sets what they can set apart
  bool recorded = false;      // saved in the run directory; by bench, told beside its results
  bool may_change = false;    // when resuming
  bool shows_default = true;  // in the help
  bool repeatable = false;    // each value counts
  /// False where the text is not what is expected.
  std::function<bool(Options&, const std::string&)> set;
  std::function<std::string(const Options&)> get;

  bool flag() const { return placeholder.empty(); }
  bool belongs_to(unsigned command) const { return (commands & command) != 0; }
};

/// All options of all commands, in the order in which the help shows them.
const std::vector<OptionEntry>& option_table();

/// The option of that name of a command, a bit; nullptr where it has none.
const OptionEntry* find_option(const std::string& name, unsigned command);

}  // namespace ut::launcher
