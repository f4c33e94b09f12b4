#pragma once

#include <exception>
#include <functional>

namespace ut::launcher {

/// While it lives, std::terminate first calls `say` with the exception that led to it, if that is a std::exception.
/// LibTorch throws from destructors once a GPU has failed, so that no handler further out is ever reached. One at a
/// time.
class LastWords {
 public:
  using Say = std::function<void(const std::exception&)>;

  explicit LastWords(Say say);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  std::terminate_handler before_;
};

}  // namespace ut::launcher
