#include "launcher/run/metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/temporary_directory.h"

namespace ut::launcher {
namespace {

TEST(Metrics, HaveALineForEachRecordInFullPrecision) {
  const tests::TemporaryDirectory scratch;
  const auto path = scratch / "metrics.jsonl";
  const double loss = 0.1 + 0.2;
  {
    MetricsLog log(path, 0);
    log.append({{"update", 1}, {"loss", loss}});
    log.append({{"update", 2}, {"loss", std::numeric_limits<double>::quiet_NaN()}});
    EXPECT_EQ(base::read_file(path), "{\"update\":1,\"loss\":0.30000000000000004}\n{\"update\":2,\"loss\":null}\n");
  }
  const auto content = base::read_file(path);
  const auto record = nlohmann::json::parse(content.substr(0, content.find('\n')));
  EXPECT_EQ(record.at("loss").get<double>(), loss);
}

TEST(Metrics, LaterAndTornLinesAreDroppedOnResuming) {
  const tests::TemporaryDirectory scratch;
  const auto path = scratch.write("metrics.jsonl",
                                  "{\"update\":10}\n{\"update\":20}\n{\"split\":\"test\",\"update\":20}\n"
                                  "{\"update\":30}\n{\"update\":15}\n{\"upd");
  MetricsLog log(path, 20);
  log.append({{"update", 21}});
  EXPECT_EQ(base::read_file(path),
            "{\"update\":10}\n{\"update\":20}\n{\"split\":\"test\",\"update\":20}\n{\"update\":15}\n{\"update\":21}\n");
}

TEST(Metrics, AMeanOfUpdatesIsDroppedWithAnyOfThem) {
  const tests::TemporaryDirectory scratch;
  const auto path = scratch.write("metrics.jsonl", "{\"updates\":[30,20]}\n{\"updates\":[20,10]}\n");
  truncate_after(path, 20);
  EXPECT_EQ(base::read_file(path), "{\"updates\":[20,10]}\n");
}

TEST(Metrics, ATornLineIsDroppedEvenWhereItReadsWhole) {
  const tests::TemporaryDirectory scratch;
  const auto path = scratch.write("metrics.jsonl", "{\"update\":1}\n{\"update\":2}");
  truncate_after(path, 100);
  EXPECT_EQ(base::read_file(path), "{\"update\":1}\n");
}

TEST(Metrics, RecogniseTheNewestLineOfAKindByItsRoundedValues) {
  const tests::TemporaryDirectory scratch;
  MetricsLog log(scratch / "metrics.jsonl", 0);
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto has = [&log](const nlohmann::ordered_json& values) { return log.has_newest({{"split", "test"}}, values); };
  EXPECT_FALSE(has({{"update", 4}}));
  log.append({{"update", 4}, {"split", "test"}, {"loss", 2.5}});
  log.append({{"update", 6}, {"loss", 2.6}});
  EXPECT_TRUE(has({{"update", 4}, {"loss", 2.5001}}));
  EXPECT_FALSE(has({{"update", 4}, {"loss", 2.6}}));
  EXPECT_FALSE(has({{"update", 5}, {"loss", 2.5}}));
  EXPECT_FALSE(has({{"update", 4}, {"split", "test"}, {"sequences", 10}}));
  log.append({{"update", 8}, {"split", "test"}, {"loss", nothing}});
  EXPECT_TRUE(has({{"update", 8}, {"loss", nothing}}));
  EXPECT_FALSE(has({{"update", 8}, {"loss", 2.5}}));
  EXPECT_FALSE(has({{"update", 4}, {"loss", 2.5}})) << "it is no longer the newest";
}

/// The last record of a finished run is of its best update, which may be long past.
TEST(Metrics, TheLastUpdateIsTheLatest) {
  const tests::TemporaryDirectory scratch;
  const auto path =
      scratch.write("metrics.jsonl", "{\"update\":10}\n{\"update\":60}\n{\"update\":12,\"split\":\"test\"}\n");
  EXPECT_EQ(newest_update(path), 60);
  EXPECT_EQ(newest_update(scratch / "nothing"), std::nullopt);
}

TEST(Metrics, AreNotCreatedByTruncatingNothing) {
  const tests::TemporaryDirectory scratch;
  truncate_after(scratch / "none", 5);
  EXPECT_FALSE(std::filesystem::exists(scratch / "none"));
  EXPECT_THROW(MetricsLog(scratch / "no/such/directory", 0), std::runtime_error);
}

}  // namespace
}  // namespace ut::launcher
