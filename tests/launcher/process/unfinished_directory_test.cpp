#include "launcher/process/unfinished_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/bad_input.h"
#include "tests/temporary_directory.h"

namespace ut::launcher {
namespace {

using testing::HasSubstr;

TEST(UnfinishedDirectory, BelongsToOneProcessStartsEmptyAndIsRemovedAtTheEnd) {
  const tests::TemporaryDirectory directory;
  const std::filesystem::path whole = directory / "model";
  directory.write(".model.ut-unfinished/left/by a kill", "");
  {
    const UnfinishedDirectory unfinished(whole);
    EXPECT_FALSE(std::filesystem::exists(unfinished / "left"));
    EXPECT_THAT(tests::bad_input([&] { const UnfinishedDirectory other(whole); }),
                HasSubstr("model: another process is making it"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  std::filesystem::create_directory(whole);
  EXPECT_THAT(tests::bad_input([&] { const UnfinishedDirectory again(whole); }), HasSubstr("model: is there already"));
}

TEST(UnfinishedDirectory, IsMadeByOnlyOneOfSeveralAtOnce) {
  const tests::TemporaryDirectory directory;
  for (int time = 0; time < 20; ++time) {
    const std::filesystem::path whole = directory / ("model-" + std::to_string(time));
    std::atomic<int> made = 0;
    std::vector<std::thread> makers;
    for (int maker = 0; maker < 4; ++maker)
      makers.emplace_back([&] {
        try {
          const UnfinishedDirectory unfinished(whole);
          std::filesystem::create_directory(unfinished / "made");
          std::ofstream(unfinished / "made" / "file") << "whole";
          std::filesystem::rename(unfinished / "made", whole);
          ++made;
        } catch (const base::BadInput&) {
          return;  // another thread makes it
        }
      });
    for (std::thread& maker : makers) maker.join();
    EXPECT_EQ(made, 1);
    EXPECT_TRUE(std::filesystem::exists(whole / "file"));
  }
}

}  // namespace
}  // namespace ut::launcher
