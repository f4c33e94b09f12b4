#include "launcher/run/appended_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/file.h"
#include "tests/temporary_directory.h"

namespace ut::launcher {
namespace {

TEST(AppendedFile, GoesOnWhereItEndedAndIsWrittenAtOnce) {
  const tests::TemporaryDirectory scratch;
  const auto path = scratch.write("file", "one\n");
  AppendedFile file(path);
  file.append("two\n");
  EXPECT_EQ(base::read_file(path), "one\ntwo\n");
  AppendedFile(path).append(std::string("\0", 1));
  file.append("");
  EXPECT_EQ(base::read_file(path), std::string("one\ntwo\n\0", 9));
}

TEST(AppendedFile, IsMadeAgainIfSomebodyRemovesIt) {
  const tests::TemporaryDirectory scratch;
  const auto path = scratch.write("file", "one\n");
  AppendedFile file(path);
  std::filesystem::remove(path);
  file.append("two\n");
  EXPECT_EQ(base::read_file(path), "two\n");
}

std::string complaint(const std::string& path) {
  try {
    AppendedFile(path).append("one");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(AppendedFile, SaysWhichFileCannotBeWrittenAndWhy) {
  EXPECT_EQ(complaint("/no/such/directory"), "/no/such/directory: cannot be written: No such file or directory");
  EXPECT_EQ(complaint("/dev/full"), "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace ut::launcher
