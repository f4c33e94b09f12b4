#include "core/state_reader.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/bad_input.h"

namespace ut::core {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using tests::bad_input;

TEST(StateReader, AcceptsOnlyFieldsOfTheRightType) {
  const json state{{"text", "words"}, {"count", 3}, {"share", 0.5}, {"largest", ~std::uint64_t{0}}, {"list", {1, 2}}};
  const StateReader read(state, "run/update-1");
  EXPECT_EQ(read.text("text", ""), "words");
  EXPECT_EQ(read.text("none", "otherwise"), "otherwise");
  EXPECT_EQ(read.whole("count", 0), 3);
  EXPECT_EQ(read.whole("none", -1, -1), -1);
  EXPECT_EQ(read.number("share", 0), 0.5);
  EXPECT_EQ(read.number("count", 0), 3);
  for (const char* field : {"count", "list"})
    EXPECT_THAT(bad_input([&] { read.text(field, ""); }), HasSubstr(field)) << field;
  for (const char* field : {"text", "share", "largest", "list"})
    EXPECT_THAT(bad_input([&] { read.whole(field, 0); }), HasSubstr("run/update-1/state.json: \"")) << field;
  EXPECT_THAT(bad_input([&] { read.whole("count", 4, 4); }), HasSubstr("at least 4"));
  for (const char* field : {"text", "list"})
    EXPECT_THAT(bad_input([&] { read.number(field, 0); }), HasSubstr("needs a number")) << field;
}

}  // namespace
}  // namespace ut::core
