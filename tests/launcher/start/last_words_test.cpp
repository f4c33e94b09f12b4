#include "launcher/start/last_words.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

namespace ut::launcher {
namespace {

/// As LibTorch's memory of a GPU that has failed.
struct ThrowsAtItsEnd {
  // NOLINTNEXTLINE(bugprone-unsafe-to-allow-exceptions): it is what is tested
  ~ThrowsAtItsEnd() noexcept(false) { throw std::runtime_error("the GPU has failed"); }
};

void fail_amid_work() {
  try {
    const ThrowsAtItsEnd tensor;
    throw std::runtime_error("an update has failed");
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): never reached
  }
}

TEST(LastWordsDeathTest, AreSaidIfADestructorThrows) {
  const auto say = [](const std::exception& error) {
    std::cerr << "because " << error.what() << '\n';
    std::_Exit(3);
  };
  EXPECT_EXIT(
      {
        const LastWords words(say);
        fail_amid_work();
      },
      testing::ExitedWithCode(3), "because the GPU has failed");
  { const LastWords gone(say); }
  EXPECT_EXIT(fail_amid_work(), testing::KilledBySignal(SIGABRT), "the GPU has failed") << "as before";
}

}  // namespace
}  // namespace ut::launcher
