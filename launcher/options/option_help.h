#pragma once

#include <boost/program_options/options_description.hpp>
#include <string>

#include "launcher/options/command_table.h"

namespace ut::launcher {

/// The options of a command, group by group, with their help: for parsing a command line, and for printing.
boost::program_options::options_description boost_options(const CommandEntry& command);

/// What `ut COMMAND --help` prints; for an empty command the list of commands.
/// Throws base::BadInput for a command that does not exist.
std::string help(const std::string& command);

}  // namespace ut::launcher
