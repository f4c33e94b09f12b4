#pragma once

#include <string>

#include "base/error.h"

namespace ut::tests {

/// The message of the BadInput that `action` throws; empty if it throws none.
template <typename Action>
std::string bad_input(Action action) {
  try {
    action();
  } catch (const base::BadInput& error) {
    return error.what();
  }
  return {};
}

}  // namespace ut::tests
