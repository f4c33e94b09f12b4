#include "datasets/dependencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bad_input.h"

namespace ut::datasets {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr const char* header = "sentence\tverb\tverb_pos\tverb_index\tn_intervening\tn_diff_intervening\r\n";

class Dependencies : public testing::Test {
 protected:
  void write(const std::string& lines, const std::string& first = header) { content_ = first + lines; }
  template <typename Use>
  void for_each(Use use) const {
    for_each_dependency(content_, "table", use);
  }
  std::string refused() const {
    return tests::bad_input([&] { for_each([](std::string_view, const Dependency&) {}); });
  }
  /// The right and the wrong form of each line's verb, by VerbForms.
  std::vector<std::pair<std::string, std::string>> forms() const {
    const VerbForms forms(content_, "table");
    std::vector<std::pair<std::string, std::string>> found;
    for_each(
        [&](std::string_view, const Dependency& dependency) { found.push_back(forms.right_and_wrong(dependency)); });
    return found;
  }

  std::string content_;
};

TEST_F(Dependencies, AreReadByTheNamesOfColumns) {
  write("the cats by the tree sleep .\tsleep\tVBP\t6\t1\t1\r\nit is\tis\tVBZ\t2\t0\t0\r\n");
  std::vector<std::string> verbs;
  for_each([&](std::string_view line, const Dependency& dependency) {
    verbs.emplace_back(dependency.words[dependency.verb]);
    if (verbs.size() > 1) return;
    EXPECT_TRUE(line.starts_with("the cats") && line.ends_with('1'));
    EXPECT_EQ(dependency.words.size(), 7u);
    EXPECT_EQ(dependency.verb, 5u);
    EXPECT_EQ(dependency.verb_tag, "VBP");
    EXPECT_EQ(dependency.nouns, 1);
    EXPECT_EQ(dependency.attractors, 1);
  });
  EXPECT_THAT(verbs, ElementsAre("sleep", "is"));
}

TEST_F(Dependencies, MayHaveQuotationMarks) {
  write("\"the \"\"old\"\" cat sleeps\"\tsleeps\tVBZ\t4\t0\t0\n\"\"\"it\"\"\tis\"\tis\tVBZ\t2\t\"0\"\t0\n");
  std::vector<std::string> words;
  for_each([&](std::string_view, const Dependency& dependency) {
    words.insert(words.end(), dependency.words.begin(), dependency.words.end());
  });
  EXPECT_THAT(words, ElementsAre("the", "\"old\"", "cat", "sleeps", "\"it\"", "is"));
}

TEST_F(Dependencies, VerbsHaveTwoFormsWhereTheTableHasBoth) {
  std::string lines;
  for (const std::string verb : {"sleeps", "is", "flies", "passes", "VBZ", "snores"})
    lines += "it " + verb + "\t\tVBZ\t2\t0\t0\n";
  for (const std::string verb : {"sleep", "are", "fly", "pass", "VBP", "do"})
    lines += "they " + verb + "\t\tVBP\t2\t0\t0\n";
  write(lines);
  EXPECT_THAT(forms(),
              ElementsAre(Pair("sleeps", "sleep"), Pair("is", "are"), Pair("flies", "fly"), Pair("passes", "pass"),
                          Pair("VBZ", "VBP"), Pair("VBZ", "VBP"), Pair("sleep", "sleeps"), Pair("are", "is"),
                          Pair("fly", "flies"), Pair("pass", "passes"), Pair("VBP", "VBZ"), Pair("VBP", "VBZ")));
}

TEST_F(Dependencies, BadLinesAreNamed) {
  const std::string good = "it is\tis\tVBZ\t2\t0\t0\n";
  const auto second = [&](const std::string& line) {
    write(good + line);
    const std::string said = refused();
    return said.starts_with("table:3: ") ? said.substr(9) : said;
  };
  EXPECT_EQ(second("it was\twas\tVBD\t2\t0\t0\n"), "verb_pos is 'VBD', not VBZ or VBP");
  EXPECT_EQ(second("it is\tis\tVBZ\t3\t0\t0\n"), "verb_index is 3; words are counted from 1, and the sentence has 2");
  EXPECT_EQ(second("it is\tis\tVBZ\t0\t0\t0\n"), "verb_index is 0; words are counted from 1, and the sentence has 2");
  EXPECT_EQ(second("it is\tis\tVBZ\t2\t-1\t0\n"), "n_intervening is '-1', not a count");
  EXPECT_EQ(second("it is\tis\tVBZ\t2\t0\n"), "5 fields, but n_diff_intervening is column 6");
  EXPECT_EQ(second("\"it is\tis\tVBZ\t2\t0\t0\n"), "a quotation mark is not closed");
  EXPECT_NE(second("<pad> is\tis\tVBZ\t2\t0\t0\n").find("the word <pad>"), std::string::npos);
}

TEST_F(Dependencies, ColumnsThatAreMissingAreNamed) {
  write("", "sentence\tverb_pos\tverb_index\tn_intervening\n");
  EXPECT_EQ(refused(),
            "table:1: no column n_diff_intervening; the first line must name the columns, with tabs between them; "
            "needed are sentence, verb_pos, verb_index, n_intervening, n_diff_intervening");
}

}  // namespace
}  // namespace ut::datasets
