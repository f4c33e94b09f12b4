// ut data check and ut data fetch, as a person runs them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/file.h"
#include "tests/datasets/toy_parallel_text.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(DataCheck, SaysWhatIsThereAndWhatIsWrong) {
  const TemporaryDirectory directory;
  write_toy_parallel_text(directory, 200, 10);
  const std::string data = directory.path().string();
  const Outcome without = run_ut("data check " + data);
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.output, AllOf(HasSubstr("train: 200 pairs"), HasSubstr("wrong: " + data + "/sentencepiece.model"),
                                    HasSubstr("ut data sentencepiece --data " + data)));
  EXPECT_EQ(run_ut("data sentencepiece --vocabulary-size 100 --quiet --data " + data).output, "");
  const Outcome good = run_ut("data check " + data + " --task translation");
  EXPECT_EQ(good.exit_code, 0) << good.output;
  EXPECT_THAT(good.output, HasSubstr("can be trained on with: --task translation"));
  directory.write("test.en", "Bada.\r\n");
  directory.write("test.de", "Mono.\n");
  const Outcome warned = run_ut("data check " + data);
  EXPECT_EQ(warned.exit_code, 0) << warned.output;
  EXPECT_THAT(warned.output, HasSubstr("warning: " + data + "/test.en:1: ends with a carriage return"));
  directory.write("test.de", "Mono.\nMono.\n");
  const Outcome wrong = run_ut("data check " + data);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.output, HasSubstr("wrong: " + data + "/test.de: 2 lines, but test.en has 1"));
  const auto object = nlohmann::json::parse(run_ut("data check --json " + data).output);
  EXPECT_EQ(object.at("task"), "translation");
  EXPECT_THAT(object.at("errors").at(0).get<std::string>(), HasSubstr("test.de: 2 lines, but test.en has 1"));
  EXPECT_FALSE(object.contains("options"));
  expect_refused(run_ut("data check " + data + "/nowhere"), HasSubstr("no such directory"));
}

TEST(DataCheck, NamesTheFileThatAStoryTaskLacks) {
  const TemporaryDirectory directory;
  directory.write("qa1_one_test.txt", "1 Mary is here.\n2 Where is Mary?\there\t1\n");
  const Outcome checked = run_ut("data check " + directory.path().string());
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.output, HasSubstr("no train questions; there is no qa1_one_train.txt"));
}

TEST(DataCheck, NamesTwoFilesOfOneSplit) {
  const TemporaryDirectory directory;
  for (const char* file : {"qa1_one_train.txt", "qa1_other_train.txt", "qa1_one_test.txt"})
    directory.write(file, "1 Mary is here.\n2 Where is Mary?\there\t1\n");
  const Outcome checked = run_ut("data check " + directory.path().string());
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.output, HasSubstr("two train files of task 1, qa1_one_train.txt and qa1_other_train.txt"));
}

TEST(DataCheck, SaysWithWhichOptionsToTrain) {
  const TemporaryDirectory directory;
  const std::string data = directory / "stories";
  ASSERT_EQ(run_ut("data stories --facts 2 --train 100 --validation 0 --test 100 --out " + data).exit_code, 0);
  EXPECT_EQ(run_ut("data stories --facts 2 --train 200 --validation 0 --test 100 --out " + data).exit_code, 2);
  EXPECT_THAT(run_ut("data check " + data).output,
              testing::EndsWith(data + ": can be trained on with: --task babi --babi-task 2\n"));
}

TEST(DataStories, AreMadeWholeOrNotAtAll) {
  const TemporaryDirectory directory;
  const std::string data = directory / "stories";
  const Outcome full = run_shell("ulimit -f 16; $UT data stories --train 10000 --validation 0 --test 5 --out " + data);
  EXPECT_EQ(full.exit_code, 1) << "nothing is wrong with what was asked";
  EXPECT_THAT(full.errors, testing::MatchesRegex("ut: [^\n]+_train.txt: cannot be written: File too large\n"));
  EXPECT_FALSE(std::filesystem::exists(data));
}

class DataFetch : public testing::Test {
 protected:
  /// Runs `ut data fetch` in a directory of its own, with PATH set to `path`.
  Outcome fetch(const std::string& arguments, const std::string& path = "$PATH") const {
    return run_shell("cd {} && PATH={} {} data fetch {}", directory_.path().string(), path, std::getenv("UT"),
                     arguments);
  }
  /// The names in that directory.
  std::vector<std::string> found() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_F(DataFetch, TakesArchivesFromAFolder) {
  const std::filesystem::path shared = UT_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::exists(shared / "multi30k-ende.tar.xz")) GTEST_SKIP() << shared << " has no archives";
  const Outcome fetched = fetch(fmt::format("multi30k --from {}", shared.string()));
  ASSERT_EQ(fetched.exit_code, 0) << fetched.errors;
  EXPECT_THAT(fetched.output, AllOf(HasSubstr("licence: "), HasSubstr("https://github.com/multi30k/dataset"),
                                    HasSubstr(": as expected\n")));
  EXPECT_THAT(found(), testing::ElementsAre("multi30k"));
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "multi30k/raw/train.en"));
  expect_refused(fetch(fmt::format("multi30k --from {}", shared.string())), HasSubstr("is there already"));
  for (const auto& [name, files] : std::map<std::string, int>{
           {"babi", 4}, {"agreement", 2}, {"lambada", 2}, {"lambada-novels", 0}, {"newstest", 2}, {"iwslt14", 2}}) {
    const Outcome one = fetch(fmt::format("{} --out there/{} --from {}", name, name, shared.string()));
    EXPECT_EQ(one.exit_code, 0) << name << one.errors;
    const std::string compared = files == 0 ? "" : fmt::format("\n{} of its files compared", files);
    EXPECT_THAT(one.output, HasSubstr(compared)) << name;
  }
}

TEST_F(DataFetch, WhatItBringsCanBeTrainedOn) {
  const std::filesystem::path shared = UT_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::exists(shared / "lambada.tar.xz")) GTEST_SKIP() << shared << " has no archives";
  for (const std::string what : {"lambada --out l", "lambada-novels --out l/novels-lambada-style", "agreement --out a"})
    ASSERT_EQ(fetch(fmt::format("{} --quiet --from {}", what, shared.string())).exit_code, 0) << what;
  const Outcome lambada = run_ut("data check " + directory_ / "l");
  EXPECT_EQ(lambada.exit_code, 0) << lambada.output;
  EXPECT_THAT(lambada.output, HasSubstr("48516 training passages (novels-lambada-style)"));
  const Outcome agreement = run_ut("data check " + directory_ / "a");
  EXPECT_EQ(agreement.exit_code, 0) << agreement.output;
  EXPECT_THAT(agreement.output, AllOf(HasSubstr("a/linzen2016_rnn_agr_simple: "),
                                      HasSubstr("a: can be trained on with: --task agreement\n")));
}

TEST_F(DataFetch, DataWithoutAnAddressNeedsAFolder) {
  expect_refused(fetch("lambada-novels", "/nowhere"),
                 HasSubstr("give --from, a folder with novels-lambada-style.tar.xz"));
  EXPECT_THAT(found(), testing::IsEmpty());
}

TEST_F(DataFetch, AnotherArchiveIsRefusedAndNothingStays) {
  const TemporaryDirectory mirror;
  mirror.write("babi.tar.xz", "something else");
  expect_refused(fetch("babi --from " + mirror.path().string()),
                 AllOf(HasSubstr("babi.tar.xz: SHA-256 is "), HasSubstr("but should be 9cbe9244")));
  EXPECT_THAT(fetch("lambada --out not/yet/there --from " + mirror.path().string()).errors,
              HasSubstr("has no lambada.tar.xz and no lambada-dataset.tar.gz"));
  const Outcome nowhere = fetch("babi --from " + mirror / "nosuch");
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_EQ(nowhere.output, "");
  EXPECT_THAT(nowhere.errors, HasSubstr("nosuch: no such directory; needs a folder with babi.tar.xz"));
  EXPECT_THAT(fetch("babi --from " + mirror / "babi.tar.xz").errors, HasSubstr("babi.tar.xz: not a directory"));
  EXPECT_THAT(found(), testing::IsEmpty());
}

/// A stand-in for curl hands out an archive, so that the network is not used.
TEST_F(DataFetch, DownloadsFromTheAddressWithCurl) {
  const TemporaryDirectory tools;
  tools.write("packed/tasks/en/qa1_train.txt", "1 Ada sat.\n");
  tools.write("packed/tasks/data/task1/raw/val.en", "A boat.\n");
  ASSERT_EQ(
      run_shell(
          "cd {}/packed/tasks && gzip en/qa1_train.txt && tar -cf inner.tar en && cd .. && tar -czf ../archive tasks",
          tools.path().string())
          .exit_code,
      0);
  const auto curl =
      tools.write("curl", fmt::format("#!/bin/sh\ncp {} \"$6\" && echo \"$7\" > {} && echo \"$4\" >> {}\n",
                                      tools / "archive", tools / "address", tools / "meter"));
  std::filesystem::permissions(curl, std::filesystem::perms::owner_all);
  const Outcome fetched = fetch("babi --out here", tools.path().string() + ":$PATH");
  ASSERT_EQ(fetched.exit_code, 0) << fetched.errors;
  EXPECT_THAT(fetched.output, AllOf(HasSubstr("licence: Creative Commons"), testing::Not(HasSubstr("SHA-256"))));
  // The file lies where it would lie if it came from a folder of archives (--from).
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "here/tasks_1-20_v1-2/en/qa1_train.txt"));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "here/tasks_1-20_v1-2/inner.tar")) << "not unpacked";
  std::filesystem::copy_file(tools / "archive", tools / "tasks_1-20_v1-2.tar.gz");
  const Outcome brought = fetch("babi --out brought --from " + tools.path().string());
  EXPECT_EQ(brought.exit_code, 0) << brought.errors;
  EXPECT_EQ(base::read_file(directory_ / "brought/tasks_1-20_v1-2/en/qa1_train.txt"), "1 Ada sat.\n");
  EXPECT_EQ(run_shell("cat " + tools / "address").output,
            "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz\n");
  EXPECT_EQ(fetch("multi30k --out there --quiet", tools.path().string() + ":$PATH").output, "");
  EXPECT_EQ(run_shell("cat " + tools / "meter").output, "--no-silent\n--silent\n");
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "there/raw/val.en"));
  expect_refused(fetch("newstest", tools.path().string() + ":$PATH"),
                 HasSubstr("has no directory datasets/statmt/wmt_newstest"));
  EXPECT_THAT(found(), testing::UnorderedElementsAre("here", "there", "brought"));
}

/// The files' digests are known, whatever archive the files came in.
TEST_F(DataFetch, FilesThatAreNotAsPublishedAreRefused) {
  const TemporaryDirectory tools;
  tools.write("packed/lambada_test_plain_text.txt", "a passage\n");
  ASSERT_EQ(run_shell("tar -czf {} -C {} .", tools / "archive", tools / "packed").exit_code, 0);
  const auto curl = tools.write("curl", fmt::format("#!/bin/sh\ncp {} \"$6\"\n", tools / "archive"));
  std::filesystem::permissions(curl, std::filesystem::perms::owner_all);
  expect_refused(
      fetch("lambada", tools.path().string() + ":$PATH"),
      AllOf(HasSubstr("SHA-256 of lambada_test_plain_text.txt is "), HasSubstr("but should be 4ab6062b68422bf2")));
  EXPECT_THAT(found(), testing::IsEmpty());
}

TEST_F(DataFetch, ProgramsThatAreMissingOrFailAreNamed) {
  expect_refused(fetch("babi", "/nowhere"), HasSubstr("curl: cannot be run"));
  const TemporaryDirectory tools;
  std::filesystem::permissions(tools.write("curl", "#!/bin/sh\nexit 22\n"), std::filesystem::perms::owner_all);
  const Outcome failed = fetch("babi", tools.path().string() + ":$PATH");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.errors, AllOf(HasSubstr("tasks_1-20_v1-2.tar.gz: not fetched: curl: failed with 22"),
                                   HasSubstr("give --from, a folder that has this archive or babi.tar.xz")));
  EXPECT_THAT(found(), testing::IsEmpty());
  const auto curl = tools.write("curl", "#!/bin/sh\n: >\"$6\"\n");
  const auto tar =
      tools.write("tar", "#!/bin/sh\nfor file in one two; do echo \"tar: $file: broken\" >&2; done; exit 2\n");
  for (const auto& tool : {curl, tar}) std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  const Outcome broken = fetch("babi", tools.path().string() + ":$PATH");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_EQ(broken.errors, "ut: tar: failed with 2: one: broken\n");
  EXPECT_THAT(found(), testing::IsEmpty());
  EXPECT_THAT(fetch("nosuch").errors, AllOf(HasSubstr("nosuch"), HasSubstr("multi30k")));
}

}  // namespace
}  // namespace ut::tests
