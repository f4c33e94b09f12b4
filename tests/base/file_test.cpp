#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/bad_input.h"
#include "tests/temporary_directory.h"
#include "tests/umask.h"

namespace ut::base {
namespace {

using testing::HasSubstr;

TEST(ReadFile, ReturnsTheFilesBytes) {
  const tests::TemporaryDirectory directory;
  using namespace std::string_literals;
  for (const std::string& content : {""s, "one\r\ntwo"s, "a\0b"s, std::string((1 << 16) + 1, 'x')})
    EXPECT_EQ(read_file(directory.write("in a 'folder'/some file", content)), content);
}

TEST(ReadFile, RefusesWhatIsNoFile) {
  const tests::TemporaryDirectory directory;
  const auto refused = [](const std::string& path) { return tests::bad_input([&] { read_file(path); }); };
  EXPECT_THAT(refused(directory.path()), HasSubstr(directory.path().string() + ": is a directory"));
  EXPECT_THAT(refused(directory / "none"), HasSubstr("none: no such file"));
  EXPECT_THAT(refused(directory / std::string(300, 'x')), HasSubstr("xxx: cannot be read: File name too long"));
  EXPECT_THAT(refused(""), HasSubstr("no such file"));
}

TEST(WriteFileWhole, FollowsALinkAndTouchesNoOtherFile) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory.write("kept/page.html", "old");
  const std::string other = directory.write("kept/page.html.tmp", "another's");
  const std::filesystem::path link = directory / "link";
  std::filesystem::create_symlink(file, link);
  write_file_whole(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(file), "new");
  EXPECT_EQ(read_file(other), "another's");
  for (const auto& entry : std::filesystem::directory_iterator(directory / "kept"))
    EXPECT_THAT(entry.path().string(), testing::AnyOf(file, other));
}

TEST(WriteFileWhole, CreatesTheFileThatLinksPointTo) {
  const tests::TemporaryDirectory directory;
  directory.write("kept/other", "");
  std::filesystem::create_symlink("kept/page.html", directory / "link");
  std::filesystem::create_symlink(directory / "link", directory / "link to it");
  write_file_whole(directory / "link to it", "new");
  EXPECT_EQ(read_file(directory / "kept/page.html"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link to it"));
}

/// Threads stand for processes: the lock belongs to a descriptor, and each writer opens its own.
TEST(WriteFileWhole, LetsConcurrentWritersTakeTurns) {
  const tests::TemporaryDirectory directory;
  const std::filesystem::path file = directory / "file";
  const auto content = [](int writer) { return std::string(200'000, static_cast<char>('a' + writer)); };
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&, writer] {
      for (int time = 0; time < 10; ++time) write_file_whole(file, content(writer));
    });
  for (std::thread& writer : writers) writer.join();
  const std::string whole = read_file(file);
  EXPECT_EQ(whole, content(whole.front() - 'a'));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(MakeDirectories, MakesParentsTooAndAcceptsExistingOnes) {
  const tests::TemporaryDirectory directory;
  for (const char* path : {"one", "one", "two/three", "two/three/four/", "two/three"}) {
    make_directories(directory / path);
    EXPECT_TRUE(std::filesystem::is_directory(directory / path)) << path;
  }
  EXPECT_THROW(make_directories(directory.write("file", "") / "below"), std::filesystem::filesystem_error);
}

TEST(WriteFileWhole, FollowsTheUmask) {
  const tests::TemporaryDirectory directory;
  for (const auto& [mask, expected] : {std::pair(027U, 0640U), std::pair(002U, 0664U), std::pair(077U, 0600U)}) {
    const tests::Umask set(mask);
    const std::filesystem::path file = directory / std::to_string(mask);
    write_file_whole(file, "content");
    EXPECT_EQ(tests::permissions(file), expected);
  }
}

}  // namespace
}  // namespace ut::base
