#pragma once

#include <string>
#include <string_view>

namespace ut::launcher {

/// Checks that `file` can be written, before there is anything to write; an empty name is not checked. An existing file
/// must be empty or begin with `begins`, as far as it goes: anything else would be lost. `option` is for messages.
/// Throws base::BadInput.
void check_output_file(const char* option, const std::string& file, std::string_view begins);

}  // namespace ut::launcher
