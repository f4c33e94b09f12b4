#include "launcher/run/event_file.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/temporary_directory.h"
#include "tests/umask.h"

namespace ut::launcher {
namespace {

// The bytes are those that TensorBoard's own writer makes of the nine digits.
TEST(EventFile, RecordsHaveMaskedChecksums) {
  const std::string record = event_record("123456789");
  ASSERT_EQ(record.size(), 8 + 4 + 9 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
  // The CRC-32C of "123456789" is E3069283. Masking rotates it by 15 bits and adds A282EAD8.
  EXPECT_EQ(record.substr(21), std::string("\xE5\xB0\x8A\xC7", 4));
}

TEST(EventFile, NameSortsAfterThoseOfExistingFiles) {
  const tests::TemporaryDirectory scratch;
  scratch.write("events.out.tfevents.4000000000.elsewhere", "");  // from a host whose clock is ahead
  { EventFile(scratch.path(), 1).add(1, {{{"loss", 2}}, {}}); }
  { EventFile(scratch.path(), 2).add(2, {{{"loss", 1}}, {}}); }
  for (const char* name : {"events.out.tfevents.4000000001.ut", "events.out.tfevents.4000000002.ut"})
    EXPECT_NE(base::read_file(scratch / name).find("loss"), std::string::npos);
}

TEST(EventFile, GroupsOfAScoreHaveNamesOfTheirOwn) {
  const auto ponder = [](double mean, double deviation) {
    return nlohmann::ordered_json{
        {"encoder", {{"mean", mean}, {"sd", deviation}, {"histogram", {1, 3}}, {"running", {1.0, 0.75}}}}};
  };
  const StepSummary summary =
      summary_of({{"update", 7},
                  {"split", "test"},
                  {"accuracy", 0.5},
                  {"ponder", ponder(1.75, 0.4)},
                  {"groups", {{"task 2", {{"accuracy", 0.25}, {"sequences", 8}, {"ponder", ponder(2, 0.5)}}}}}});
  const std::map<std::string, double> expected{
      {"test/accuracy", 0.5},         {"test/ponder/encoder", 1.75},     {"test/ponder_sd/encoder", 0.4},
      {"test/task 2/accuracy", 0.25}, {"test/task 2/ponder/encoder", 2}, {"test/task 2/ponder_sd/encoder", 0.5},
      {"test/task 2/sequences", 8}};
  EXPECT_EQ(summary.scalars, expected);
  EXPECT_EQ(summary.histograms.at("test/task 2/ponder/encoder"), (std::vector<std::int64_t>{1, 3}));
}

TEST(EventFile, FollowsTheUmask) {
  const tests::TemporaryDirectory scratch;
  for (const auto& [mask, expected] : {std::pair(027U, 0640U), std::pair(002U, 0664U), std::pair(077U, 0600U)}) {
    const tests::Umask set(mask);
    const std::filesystem::path events = scratch / std::to_string(mask);
    EventFile(events, 0).add(1, {});
    for (const auto& entry : std::filesystem::directory_iterator(events))
      EXPECT_EQ(tests::permissions(entry), expected);
  }
}

}  // namespace
}  // namespace ut::launcher
