#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/temporary_directory.h"

namespace ut::tests {

/// Base of tests on published data, which is not in the repository. The archives that Suite::archives names lie in
/// shared/data beside the sources. They are unpacked once for the suite; if one is missing, all its tests are skipped.
template <typename Suite>
class SharedData : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto directory = std::make_unique<TemporaryDirectory>();
    for (const char* name : Suite::archives) {
      const auto archive = std::filesystem::path(UT_SOURCE_DIR).parent_path() / "shared/data" / name;
      if (!std::filesystem::exists(archive)) {
        fmt::print("Published data is not checked: there is no {}\n", archive.string());
        return;
      }
      const std::string command = fmt::format("tar -xJf '{}' -C '{}'", archive.string(), directory->path().string());
      ASSERT_EQ(std::system(command.c_str()), 0) << command;
    }
    unpacked = std::move(directory);
  }
  static void TearDownTestSuite() { unpacked.reset(); }

  void SetUp() override {
    if (!unpacked) GTEST_SKIP() << "published data is not beside the sources";
  }

  static inline std::unique_ptr<TemporaryDirectory> unpacked;

 private:
  friend Suite;
  SharedData() = default;
};

}  // namespace ut::tests
