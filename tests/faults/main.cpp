// Runs the fault tests, and prints at the end a table of what was tried and how it ended.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <string>
#include <vector>

namespace {

/// ARankThatIsKilled -> a rank that is killed
std::string words(const std::string& name) {
  std::string text;
  for (const char letter : name.substr(0, name.find('/'))) {
    if (std::isupper(static_cast<unsigned char>(letter)) != 0 && !text.empty()) text += ' ';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

class Table final : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    const auto property = [&](const std::string& key) -> std::string {
      for (int index = 0; index < result.test_property_count(); ++index)
        if (result.GetTestProperty(index).key() == key) return result.GetTestProperty(index).value();
      return "";
    };
    if (property("tried").empty()) return;
    const std::string parameter = test.value_param() == nullptr ? "" : fmt::format(": {}", test.value_param());
    const std::string name = words(std::string(test.test_suite_name()) + test.name());
    rows_.push_back(fmt::format("| {}{} | {} | {} | {} | {} |", name, parameter, property("tried"),
                                result.Passed() ? "all" : "FAILED", property("lost_updates"), property("seconds")));
  }

  void OnTestProgramEnd(const testing::UnitTest&) override {
    fmt::print(
        "\n| fault | tried | passed | updates done again, at most | seconds to the end, at most |\n"
        "|---|---|---|---|---|\n{}\n",
        fmt::join(rows_, "\n"));
  }

 private:
  std::vector<std::string> rows_;
};

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  testing::UnitTest::GetInstance()->listeners().Append(std::make_unique<Table>().release());
  return RUN_ALL_TESTS();
}
