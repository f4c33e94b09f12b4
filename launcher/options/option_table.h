#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

/// The commands that take options, as bits. An option has the bits of all commands that take it.
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

/// One option. The parser, the help, the saved configuration and the rules for resuming are all made from these.
struct OptionEntry {
  std::string group;
  std::string name;
  unsigned commands = 0;
  std::string placeholder;  // of the value in the help; empty: a flag, which takes no value
  std::string description;
  std::string expected;  // a right value in words, to follow "needs"
  std::string most;      // the largest number, if `expected` does not say it
  // Applied before the others of its source, because it sets several values that they can set one by one.
  bool sets_others = false;
  bool recorded = false;      // saved in the run directory; bench shows it beside its results
  bool may_change = false;    // when resuming
  bool shows_default = true;  // in the help
  bool repeatable = false;    // may be given more than once; each value counts
  /// Returns false if the text is not what is expected.
  std::function<bool(Options&, const std::string&)> set;
  std::function<std::string(const Options&)> get;

  bool flag() const { return placeholder.empty(); }
  bool belongs_to(unsigned command) const { return (commands & command) != 0; }
};

/// All options of all commands, in the order in which the help shows them.
const std::vector<OptionEntry>& option_table();

/// The option of that name of the command, a bit; nullptr if there is none.
const OptionEntry* find_option(const std::string& name, unsigned command);

}  // namespace ut::launcher
