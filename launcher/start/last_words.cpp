#include "launcher/start/last_words.h"

#include <cstdlib>
#include <utility>

namespace ut::launcher {
namespace {

/// std::terminate hands nothing to its handler.
LastWords::Say& words() {
  static LastWords::Say say;
  return say;
}

[[noreturn]] void say_and_abort() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    words()(error);
  } catch (...) {
    std::abort();
  }
  std::abort();
}

}  // namespace

LastWords::LastWords(Say say) : before_(std::set_terminate(say_and_abort)) { words() = std::move(say); }

LastWords::~LastWords() { std::set_terminate(before_); }

}  // namespace ut::launcher
