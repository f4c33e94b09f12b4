#include "launcher/options/option_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "datasets/published.h"
#include "tests/launcher/options/given_words.h"

namespace ut::launcher {
namespace {

using ::testing::HasSubstr;

TEST(Help, IsAskedForAnywhere) {
  EXPECT_EQ(parse_options({"--help"}).command, "help");
  const Options options = parse_options({"train", "--heads", "x", "--help"});
  EXPECT_EQ(options.command, "help");
  EXPECT_EQ(options.topic, "train");
  EXPECT_EQ(parse_options({"help", "decode"}).topic, "decode");
  EXPECT_EQ(parse_options({"data", "--help"}).topic, "data");
  EXPECT_EQ(parse_options({"data", "check", "--help"}).topic, "data check");
  EXPECT_THAT(help("data"), testing::AllOf(HasSubstr("data fetch"), Not(HasSubstr("evaluate"))));
  EXPECT_EQ(parse_options({"--version"}).command, "version");
  for (const auto* command : {"train", "evaluate", "decode", "score", "bench", "plan", "doctor", "data stories",
                              "data sentencepiece", "data check", "data fetch", "report"})
    EXPECT_THAT(help(""), HasSubstr(std::string("\n  ") + command));
  for (const std::string& name : datasets::published_names()) EXPECT_THAT(help("data fetch"), HasSubstr(name));
  EXPECT_NE(tests::bad_input([] { help("nosuch"); }), "");
}

/// An option counts as accepted if an impossible value brings a message about it, and not "unknown option".
TEST(Help, EveryOptionInItIsAccepted) {
  const tests::TemporaryDirectory scratch;
  record_run(scratch, train({}));
  const std::regex option_line("\n  --([a-z0-9-]+)( [A-Z]+)?");
  for (const std::string command : {"train", "evaluate", "decode", "score", "bench", "plan", "doctor", "data stories",
                                    "data sentencepiece", "data check", "data fetch", "report"}) {
    const auto text = help(command);
    int found = 0;
    for (std::sregex_iterator match(text.begin(), text.end(), option_line), end; match != end; ++match, ++found) {
      const auto name = "--" + match->str(1);
      if (name == "--help") continue;
      Words words;
      std::istringstream parts(command);
      for (std::string word; parts >> word;) words.push_back(word);
      words.push_back(name + (match->length(2) > 0 ? "=" : "=1"));
      const auto message = refused(words);
      EXPECT_THAT(message, HasSubstr(name == "--config" ? "" : name)) << command;
      EXPECT_THAT(message, Not(HasSubstr("unknown option"))) << command;
    }
    EXPECT_GT(found, 4) << command;
  }
}

}  // namespace
}  // namespace ut::launcher
