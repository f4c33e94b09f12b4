#pragma once

#include <string>
#include <vector>

namespace ut::launcher {

/// A line `name = value` of a file of options.
struct ConfigLine {
  int number;  // from 1
  std::string name;
  std::string value;
};

/// The lines of a file of options that set something; `#` begins a comment. `path` is for messages. Throws
/// base::BadInput for a line of another form.
std::vector<ConfigLine> config_lines(const std::string& text, const std::string& path);

/// A line that config_lines() reads back.
std::string config_line(const std::string& name, const std::string& value);

}  // namespace ut::launcher
