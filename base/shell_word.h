#pragma once

#include <string>
#include <string_view>

namespace ut::base {

/// `word` as it is typed into a shell: in single quotes if it is empty or has a character that is special there, as a
/// blank.
std::string shell_word(std::string_view word);

}  // namespace ut::base
