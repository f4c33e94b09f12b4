#pragma once

#include <string>

#include "tests/temporary_directory.h"

namespace ut::tests {

/// Writes LAMBADA's files with the same passages, one a line, for training, validation and testing.
inline void write_passages(const TemporaryDirectory& data, const std::string& passages) {
  for (const char* file : {"train.txt", "lambada_development_plain_text.txt", "lambada_test_plain_text.txt"})
    data.write(file, passages);
}

}  // namespace ut::tests
