#include "base/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace ut::base {
namespace {

/// The word as a shell reads it.
std::string read_by_shell(const std::string& word) {
  std::FILE* output = ::popen(("printf %s " + word).c_str(), "r");
  std::array<char, 256> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), output);
  ::pclose(output);
  return {text.data(), size};
}

TEST(ShellWord, IsReadBackByAShell) {
  for (const std::string word :
       {"runs/one", "with a blank", "it's", "'", "$HOME `date` \"x\" \\", "a;b&c|d*?~#!(", "", "Größe", "-x=1"})
    EXPECT_EQ(read_by_shell(shell_word(word)), word);
}

TEST(ShellWord, IsNotQuotedWithoutNeed) {
  EXPECT_EQ(shell_word("/data/runs-1/x_2.a,b:c+d@e%f=g"), "/data/runs-1/x_2.a,b:c+d@e%f=g");
  EXPECT_EQ(shell_word("a b"), "'a b'");
}

}  // namespace
}  // namespace ut::base
