#pragma once

#include <string>
#include <string_view>

namespace ut::base {

/// `word` as it is typed into a shell: in single quotes where it has what a shell takes for its own, as a blank.
std::string shell_word(std::string_view word);

}  // namespace ut::base
