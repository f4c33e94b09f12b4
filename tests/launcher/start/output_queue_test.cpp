#include "launcher/start/output_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "launcher/process/pipe.h"

namespace ut::launcher {
namespace {

std::string text_of(std::size_t length) {
  std::string text;
  for (std::size_t place = 0; place < length; ++place) text += static_cast<char>('a' + place % 23);
  return text;
}

/// What a pipe holds, without waiting for more.
std::string read_all(Pipe& pipe) {
  std::string text;
  pipe.read([&text](std::string_view part) { text += part; });
  return text;
}

TEST(OutputQueue, WritesWhatAPipeTakesAndKeepsTheRest) {
  Pipe pipe;
  pipe.do_not_wait();
  OutputQueue queue(pipe.writing_end());
  const std::string text = text_of(300'000);
  queue.add(text);
  std::string read;
  for (int turn = 0; turn < 20 && !queue.is_empty(); ++turn) {
    queue.write_some();  // if it waited, it would wait for ever
    EXPECT_FALSE(turn == 0 && queue.is_empty());
    read += read_all(pipe);
  }
  EXPECT_TRUE(read == text);
  EXPECT_EQ(queue.failure(), 0);
}

TEST(OutputQueue, DoesNotWaitWhereAnotherHasFilledThePipe) {
  Pipe pipe;
  pipe.do_not_wait();
  OutputQueue one(pipe.writing_end());
  OutputQueue other(pipe.writing_end());
  one.add(text_of(100'000));
  other.add("line\n");
  one.write_some();
  other.write_some();
  other.write_within(0);
  EXPECT_FALSE(one.is_empty());
  EXPECT_FALSE(other.is_empty());
  read_all(pipe);
  other.write_some();
  EXPECT_TRUE(other.is_empty());
}

TEST(OutputQueue, IsFullWithAMegabyte) {
  OutputQueue queue(STDOUT_FILENO);
  EXPECT_FALSE(queue.is_full());
  queue.add(text_of(std::size_t{1} << 20));
  EXPECT_TRUE(queue.is_full());
  queue.give_up(ECANCELED);
  queue.add("more");
  EXPECT_TRUE(queue.is_empty());
  EXPECT_EQ(queue.failure(), ECANCELED);
}

}  // namespace
}  // namespace ut::launcher
