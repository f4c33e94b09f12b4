#include "launcher/process/run_program.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/file.h"
#include "tests/temporary_directory.h"

namespace ut::launcher {
namespace {

TEST(RunProgram, SaysHowItEnded) {
  EXPECT_TRUE(run_program({"true"}).is_well());
  EXPECT_EQ(run_program({"sh", "-c", "exit 7"}).code, 7);
  EXPECT_EQ(run_program({"sh", "-c", "kill -KILL $$"}).code, -1);
  const ProgramEnd missing = run_program({"ut-no-such-program"});
  EXPECT_EQ(missing.not_started, ENOENT);
  EXPECT_FALSE(missing.is_well());
}

TEST(RunProgram, OutputGoesToAFileOrIsReturned) {
  const tests::TemporaryDirectory directory;
  EXPECT_TRUE(run_silent_program({"echo", "a  b"}, directory / "said").is_well());
  EXPECT_EQ(base::read_file(directory / "said"), "a  b\n");
  EXPECT_EQ(output_of({"sh", "-c", "echo one; echo two >&2"}), "one\ntwo\n");
  EXPECT_EQ(output_of({"ut-no-such-program"}), "");
}

}  // namespace
}  // namespace ut::launcher
