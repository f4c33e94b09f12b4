#include "launcher/run/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "launcher/options/option_record.h"
#include "launcher/options/option_sources.h"
#include "launcher/run/metrics.h"
#include "tests/bad_input.h"
#include "tests/temporary_directory.h"
#include "tests/umask.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Options options_for(const std::string& run_dir, bool resume = false) {
  Options options;
  options.task.task = "copy";
  options.run_dir = run_dir;
  options.resume = resume;
  return options;
}

std::string refused(const Options& options) {
  auto checked = tests::bad_input([&] { check_run_directory(options); });
  const auto opened = tests::bad_input([&] { const RunDirectory directory(options); });
  EXPECT_EQ(checked, opened);
  return checked;
}

TEST(RunDirectory, HoldsTheOptionsAndPlacesForTheRest) {
  const tests::TemporaryDirectory scratch;
  const auto options = options_for(scratch / "deep/run");
  check_run_directory(options);
  EXPECT_FALSE(std::filesystem::exists(scratch / "deep"));
  const RunDirectory directory(options);
  EXPECT_EQ(base::read_file(scratch / "deep/run/options.conf"), to_config(options));
  EXPECT_TRUE(std::filesystem::is_directory(directory.checkpoints()));
  EXPECT_EQ(directory.metrics(), scratch / "deep/run/metrics.jsonl");
}

TEST(RunDirectory, FollowsTheUmask) {
  const tests::TemporaryDirectory scratch;
  for (const auto& [mask, expected] : {std::pair(027U, 0640U), std::pair(002U, 0664U)}) {
    const tests::Umask set(mask);
    const RunDirectory directory(options_for(scratch / std::to_string(mask)));
    const MetricsLog metrics(directory.metrics(), 0);
    directory.keep({{"kept", "content"}});
    for (const char* file : {"options.conf", "lock", "metrics.jsonl", "kept"})
      EXPECT_EQ(tests::permissions(directory.path() / file), expected) << file;
    EXPECT_EQ(tests::permissions(directory.checkpoints()), 0777U & ~mask);
  }
}

TEST(RunDirectory, ARunIsNotOverwrittenButResumed) {
  const tests::TemporaryDirectory scratch;
  const auto run = scratch / "run";
  { const RunDirectory directory(options_for(run)); }
  { const RunDirectory again(options_for(run)); }  // there was no checkpoint, so nothing is lost
  scratch.write("run/checkpoints/update-00000001/state.json", "{}");
  EXPECT_THAT(refused(options_for(run)), AllOf(HasSubstr(run), HasSubstr("--resume")));
  const RunDirectory resumed(options_for(run, true));
}

TEST(RunDirectory, IsRefusedIfThereIsNothingToResume) {
  const tests::TemporaryDirectory scratch;
  EXPECT_THAT(refused(options_for(scratch / "run", true)), HasSubstr("leave out --resume"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
}

TEST(RunDirectory, TwoRunsInOneAreRefused) {
  const tests::TemporaryDirectory scratch;
  const auto options = options_for(scratch / "run");
  const RunDirectory directory(options);
  for (const bool resume : {false, true})  // before the first checkpoint, too
    EXPECT_THAT(refused(options_for(options.run_dir, resume)),
                AllOf(HasSubstr(options.run_dir), HasSubstr("another process trains there")));
}

TEST(RunDirectory, WhatCannotBeWrittenIsRefused) {
  const tests::TemporaryDirectory scratch;
  const auto file = scratch.write("file", "");
  EXPECT_THAT(refused(options_for(file)), HasSubstr("is a file"));
  EXPECT_THAT(refused(options_for(file / "run")), HasSubstr("is a file"));
  EXPECT_THAT(tests::bad_input([] { const RunDirectory directory(options_for("/proc/run")); }),
              HasSubstr("cannot be written to"));
  for (const std::string place : {"tensorboard", "checkpoints"}) {
    const auto there = scratch.write(place + "-run/" + place, "");
    EXPECT_THAT(refused(options_for(there.parent_path())), HasSubstr(there.string() + " is a file"));
    EXPECT_FALSE(base::path_exists(there.parent_path() / "options.conf"));
  }
}

}  // namespace
}  // namespace ut::launcher
