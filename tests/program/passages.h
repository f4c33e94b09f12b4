#pragma once

#include <string>

#include "tests/temporary_directory.h"

namespace ut::tests {

/// LAMBADA's passages, a line each, the same ones to train on, to choose by and to test on.
inline void write_passages(const TemporaryDirectory& data, const std::string& passages) {
  for (const char* file : {"train.txt", "lambada_development_plain_text.txt", "lambada_test_plain_text.txt"})
    data.write(file, passages);
}

}  // namespace ut::tests
