#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace ut::base {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, ReadsValidText) {
  EXPECT_EQ(parse_json(R"({"a": [1, "]]"]})")["a"][1], "]]");
  EXPECT_TRUE(parse_json(nested(64)).is_array());
  EXPECT_TRUE(parse_json('"' + std::string(1000, '[') + "\\\"[\"").is_string());
}

TEST(ParseJson, ReturnsNothingForInvalidText) {
  for (const std::string& text : {std::string(), std::string("{"), std::string("{} x"), std::string("\xff"),
                                  std::string("[1e999]"), nested(65), nested(10000000), std::string(8000000, '{')})
    EXPECT_TRUE(parse_json(text).is_discarded()) << text.substr(0, 20);
}

}  // namespace
}  // namespace ut::base
