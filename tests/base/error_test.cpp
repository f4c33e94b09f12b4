#include "base/error.h"

#include <gtest/gtest.h>

namespace ut::base {
namespace {

TEST(PrintableLine, LeavesTextAsItIs) {
  for (const std::string text : {"", "runs/one: no such file", "Männer, 人, 🙂", "\"quoted\" \\n"})
    EXPECT_EQ(printable_line(text), text);
}

TEST(PrintableLine, EscapesControlCharacters) {
  EXPECT_EQ(printable_line("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable_line("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable_line(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable_line("\u0085 \u009b1m \u2028"), "\\xc2\\x85 \\xc2\\x9b1m \\xe2\\x80\\xa8");
}

TEST(PrintableLine, EscapesInvalidUtf8) {
  EXPECT_EQ(printable_line("caf\xe9!"), "caf\\xe9!");
  EXPECT_EQ(printable_line("\xc3"), "\\xc3");                             // cut short
  EXPECT_EQ(printable_line("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable_line("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable_line("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a surrogate pair
  EXPECT_EQ(printable_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last code point
}

TEST(PrintableLine, LeavesOutTheMiddleOfLongText) {
  for (const std::string sign : {"x", "ä", "人", "\x1b", "\xff"}) {
    std::string text = "file:3: '";
    while (text.size() < 100000) text += sign;
    const std::string line = printable_line(text + "'; a line is shorter");
    EXPECT_LE(line.size(), 1200) << sign;
    EXPECT_GT(line.size(), 1000) << sign;
    EXPECT_TRUE(line.starts_with("file:3: '")) << line;
    EXPECT_TRUE(line.ends_with("'; a line is shorter")) << line;
    EXPECT_EQ(printable_line(line), line);
  }
}

TEST(BadInput, IsOneLine) { EXPECT_STREQ(BadInput("file:1: 'a\nb\x1b'").what(), "file:1: 'a\\nb\\x1b'"); }

}  // namespace
}  // namespace ut::base
