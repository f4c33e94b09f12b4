#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tests/temporary_directory.h"

/// What libFuzzer and the replay of the corpus call: gives one input to a parser. Ends the process where the parser
/// does what none may do.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,  // NOLINT(readability-identifier-naming): its name
                                      std::size_t size);

namespace ut::tests {

/// Ends the process, as a finding, where `what` does not hold.
void require(bool holds, std::string_view what);

/// Requires one line that a terminal shows and does not obey, not much longer than a screen.
void require_shown(std::string_view message);

/// Whether `action` takes what it is given. The only exception that it may throw is BadInput, with a message as above.
template <typename Action>
bool taken(Action action) {
  try {
    action();
    return true;
  } catch (const base::BadInput& error) {
    require_shown(error.what());
    return false;
  }
}

/// The bytes, or where there are lines `----` the `count` parts between them, of which the last ones may be empty.
std::vector<std::string> parts_of(const std::uint8_t* data, std::size_t size, std::size_t count);

/// Writes a file, over an older one. Unlike a new one for each input, a directory that stays takes no time.
void put(const TemporaryDirectory& directory, const std::string& name, std::string_view content);

}  // namespace ut::tests
