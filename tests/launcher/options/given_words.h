#pragma once

#include <string>
#include <vector>

#include "launcher/options/option_record.h"
#include "launcher/options/option_sources.h"
#include "launcher/options/options.h"
#include "tests/bad_input.h"
#include "tests/temporary_directory.h"

namespace ut::launcher {

using Words = std::vector<std::string>;

/// The options of `ut train` with these words, added to those that it requires.
inline Options train(const Words& words) {
  Words all = {"train", "--task", "copy", "--run-dir", "nowhere"};
  all.insert(all.end(), words.begin(), words.end());
  return parse_options(all);
}

/// The message with which words are refused.
inline std::string refused(const Words& words) {
  return tests::bad_input([&] { parse_options(words); });
}

inline std::string refused(const std::string& command, Words words) {
  words.insert(words.begin(), command);
  return refused(words);
}

inline std::string train_refused(const Words& words) {
  return tests::bad_input([&] { train(words); });
}

/// Makes a run directory with the options file that `ut train` writes for these options.
inline void record_run(const tests::TemporaryDirectory& scratch, Options options) {
  options.ranks = 2;
  scratch.write(std::string("run/") + config_name, to_config(options));
}

}  // namespace ut::launcher
