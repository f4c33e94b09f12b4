#pragma once

#include <string>
#include <string_view>

namespace ut::launcher {

/// That a file can be written there, before there is anything to write; nothing where none is given. What is there is
/// only written over where it begins as what is to be written, or is empty. Throws base::BadInput.
void check_output_file(const char* option, const std::string& file, std::string_view begins);

}  // namespace ut::launcher
