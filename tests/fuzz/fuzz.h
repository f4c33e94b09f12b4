#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tests/temporary_directory.h"

/// Called by libFuzzer and by the replay of the corpus: gives one input to a parser. Ends the process if the parser
/// does something that no parser may do.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,  // NOLINT(readability-identifier-naming): its name
                                      std::size_t size);

namespace ut::tests {

/// Ends the process with the finding `what` unless `holds`.
void require(bool holds, std::string_view what);

/// Requires a message of one line, without control characters and not much longer than a screen.
void require_printable_line(std::string_view message);

/// Whether `action` accepts its input. It may throw nothing but BadInput, with a message as require_printable_line()
/// wants it.
template <typename Action>
bool try_action(Action action) {
  try {
    action();
    return true;
  } catch (const base::BadInput& error) {
    require_printable_line(error.what());
    return false;
  }
}

/// The bytes cut at lines `----` into `count` parts. If there are fewer such lines, the last parts are empty.
std::vector<std::string> parts_of(const std::uint8_t* data, std::size_t size, std::size_t count);

/// Writes a file over an older one. Inputs share one directory, since making a new one for each takes time.
void overwrite(const TemporaryDirectory& directory, const std::string& name, std::string_view content);

}  // namespace ut::tests
