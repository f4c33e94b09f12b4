#include "launcher/process/readable.h"

#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

TEST(Readable, HasThreeDigitsAndThePrefixThatFits) {
  EXPECT_EQ(readable(1.34e9, "B"), "1.34 GB");
  EXPECT_EQ(readable(0.00476e9, "B"), "4.76 MB");
  EXPECT_EQ(readable(2360e9, "B"), "2.36 TB");
  EXPECT_EQ(readable(640, "B"), "640 B");
  EXPECT_EQ(readable(0, "B"), "0 B");
  EXPECT_EQ(readable(999'700, "B"), "1.00 MB");
  EXPECT_EQ(readable(3.2e-6, "s"), "3.20 µs");
}

TEST(Readable, Counts) {
  EXPECT_EQ(readable_count(950), "950");
  EXPECT_EQ(readable_count(16'220), "16.2k");
  EXPECT_EQ(readable_count(18'880e6), "18.9G");
  EXPECT_EQ(readable_count(0.5), "0.500");
}

TEST(Readable, SecondsHaveNoExponentAndNoKiloPrefix) {
  EXPECT_EQ(readable_seconds(0.00442), "4.42 ms");
  EXPECT_EQ(readable_seconds(1), "1 s");
  EXPECT_EQ(readable_seconds(1.004), "1.00 s");
  EXPECT_EQ(readable_seconds(12'345.6), "12346 s");
}

}  // namespace
}  // namespace ut::launcher
