#include "datasets/stories.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "datasets/babi.h"
#include "datasets/task_options.h"
#include "datasets/words.h"
#include "tests/bad_input.h"
#include "tests/temporary_directory.h"

namespace ut::datasets {
namespace {

struct Question {
  std::string text;
  std::string answer;
  std::vector<int> supporting;
};

struct Story {
  std::string text;
  std::map<int, std::string> facts;                 // by line number
  std::vector<std::pair<int, Question>> questions;  // with line number
};

std::vector<Story> read_back(const std::string& content) {
  std::vector<Story> stories;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    const int number = std::stoi(line);
    const std::string text = line.substr(line.find(' ') + 1);
    if (number == 1) stories.emplace_back();
    stories.back().text += line + '\n';
    const std::size_t tab = text.find('\t');
    if (tab == std::string::npos) {
      stories.back().facts[number] = text;
      continue;
    }
    const std::size_t second = text.find('\t', tab + 1);
    Question question{text.substr(0, tab), text.substr(tab + 1, second - tab - 1), {}};
    std::istringstream supporting(text.substr(second + 1));
    for (int fact = 0; supporting >> fact;) question.supporting.push_back(fact);
    stories.back().questions.emplace_back(number, question);
  }
  return stories;
}

/// Understands the sentences by their words alone and answers like a reader; "" if a reader could not know.
class Reader {
 public:
  void tell(const std::string& fact) {
    static const std::set<std::string> moving = {"climbed to", "hurried to", "headed for", "strode to"};
    static const std::set<std::string> taking = {"lifted", "seized", "fetched", "collected"};
    static const std::set<std::string> dropping = {"released", "unloaded", "abandoned", "set aside"};
    const std::size_t verb = fact.find(' ') + 1;
    const std::size_t the = fact.find(" the ");
    ASSERT_NE(the, std::string::npos) << fact;
    ASSERT_EQ(fact.back(), '.');
    const std::string person = fact.substr(0, verb - 1);
    const std::string doing = fact.substr(verb, the - verb);
    const std::string noun = fact.substr(the + 5, fact.size() - the - 6);
    possible_ = possible_ && (moving.count(doing) == 1   ? !is_at(person, noun)
                              : taking.count(doing) == 1 ? carrier_.count(noun) == 0 && could_lie_by(noun, person)
                                                         : carrier_.count(noun) == 1 && carrier_.at(noun) == person);
    if (moving.count(doing) == 1) {
      place_[person] = noun;
      for (const auto& [thing, carrier] : carrier_)
        if (carrier == person) trail_[thing].push_back(noun);
    } else if (taking.count(doing) == 1) {
      carrier_[noun] = person;
      see(noun, person);
    } else {
      ASSERT_EQ(dropping.count(doing), 1u) << fact;
      carrier_.erase(noun);
      see(noun, person);
    }
  }

  /// False if someone moved to where they were, took what was held or lay elsewhere, or dropped what they did not hold.
  bool possible() const { return possible_; }

  bool is_lying(const std::string& thing) const { return carrier_.count(thing) == 0; }
  /// The share, of the things that were touched, that nobody carries.
  double share_of_lying() const {
    const auto lying = std::ranges::count_if(trail_, [&](const auto& thing) { return is_lying(thing.first); });
    return static_cast<double>(lying) / static_cast<double>(trail_.size());
  }
  /// The places of a thing, in order.
  const std::vector<std::string>& trail(const std::string& thing) const { return trail_.at(thing); }

  std::string answer(const std::string& question) const {
    std::istringstream stream(question.substr(0, question.find('?')));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.size() == 3) return place_.count(words[2]) == 1 ? place_.at(words[2]) : "";  // Where is NAME
    const auto trail = trail_.find(words[3]);
    if (trail == trail_.end()) return "";
    if (words.size() == 4) return trail->second.back();         // Where is the THING
    for (std::size_t stop = trail->second.size(); stop-- > 1;)  // Where was the THING before the PLACE
      if (trail->second[stop] == words[6]) return trail->second[stop - 1];
    return "";
  }

 private:
  bool is_at(const std::string& person, const std::string& place) const {
    return place_.count(person) == 1 && place_.at(person) == place;
  }
  bool could_lie_by(const std::string& thing, const std::string& person) const {
    return trail_.count(thing) == 0 || is_at(person, trail_.at(thing).back());
  }

  void see(const std::string& thing, const std::string& person) {
    if (place_.count(person) == 0) return;
    std::vector<std::string>& trail = trail_[thing];
    if (trail.empty() || trail.back() != place_[person]) trail.push_back(place_[person]);
  }

  bool possible_ = true;
  std::map<std::string, std::string> place_;
  std::map<std::string, std::string> carrier_;
  std::map<std::string, std::vector<std::string>> trail_;  // by thing
};

/// A reader who knows the story before a line.
Reader reader_before(int line, const Story& story) {
  Reader reader;
  for (const auto& [number, fact] : story.facts)
    if (number < line) reader.tell(fact);
  return reader;
}

const std::array<std::string, 3> names = {"qa1_one-supporting-fact", "qa2_two-supporting-facts",
                                          "qa3_three-supporting-facts"};

class Stories : public testing::TestWithParam<int> {
 protected:
  StoryOptions options() const { return {GetParam(), 300, 40, 60, 7, directory_.path() / "made" / "here"}; }

  std::string content(const std::string& split) const {
    return base::read_file(options().out /
                           fmt::format("{}_{}.txt", names[static_cast<std::size_t>(GetParam() - 1)], split));
  }

  tests::TemporaryDirectory directory_;
};

TEST_P(Stories, AnswersFollowFromTheStory) {
  write_stories(options());
  for (const std::string split : {"train", "valid", "test"}) {
    for (const Story& story : read_back(content(split))) {
      for (const auto& [line, question] : story.questions) {
        const Reader reader = reader_before(line, story);
        ASSERT_EQ(reader.answer(question.text), question.answer) << line << " of\n" << story.text;
        ASSERT_TRUE(reader.possible()) << line << " of\n" << story.text;
      }
    }
  }
}

TEST_P(Stories, SupportingFactsAreSufficientAndNecessary) {
  write_stories(options());
  for (const Story& story : read_back(content("train"))) {
    for (const auto& [line, question] : story.questions) {
      const std::vector<int>& supporting = question.supporting;
      ASSERT_EQ(std::ssize(supporting), GetParam());
      ASSERT_TRUE(std::is_sorted(supporting.begin(), supporting.end()));
      ASSERT_LT(supporting.back(), line);
      for (int left_out = 0; left_out <= GetParam(); ++left_out) {  // the last round leaves no fact out
        Reader reader;
        for (int fact = 0; fact < GetParam(); ++fact)
          if (fact != left_out) reader.tell(story.facts.at(supporting[static_cast<std::size_t>(fact)]));
        ASSERT_EQ(reader.answer(question.text), left_out == GetParam() ? question.answer : "") << line << " of\n"
                                                                                               << story.text;
      }
    }
  }
}

TEST_P(Stories, HaveBabisSizes) {
  write_stories(options());
  const std::array<std::size_t, 3> longest = {10, 40, 80};
  std::set<std::size_t> sizes;
  const std::vector<Story> stories = read_back(content("train"));
  ASSERT_EQ(stories.size(), 300u);
  for (const Story& story : stories) {
    ASSERT_EQ(story.questions.size(), 5u);
    ASSERT_LE(story.facts.size(), longest[static_cast<std::size_t>(GetParam() - 1)]);
    sizes.insert(story.facts.size());
    if (GetParam() == 1) {
      for (int question = 0; question < 5; ++question)
        ASSERT_EQ(story.questions[static_cast<std::size_t>(question)].first, 3 * question + 3);
    }
  }
  if (GetParam() == 1) {
    EXPECT_EQ(sizes, std::set<std::size_t>{10});
  } else {
    EXPECT_GT(sizes.size(), 10u);
  }
}

TEST_P(Stories, CannotBeAnsweredByAShortcut) {
  write_stories(options());
  std::map<std::string, int> answers;
  int questions = 0;
  int answered_by_newest = 0;
  for (const Story& story : read_back(content("train"))) {
    for (const auto& [line, question] : story.questions) {
      ++questions;
      ++answers[question.answer];
      std::string newest;
      for (const auto& [number, fact] : story.facts)
        if (number < line) newest = fact;
      if (newest.find(question.answer) != std::string::npos) ++answered_by_newest;
    }
  }
  EXPECT_EQ(answers.size(), 6u);
  for (const auto& [answer, count] : answers) EXPECT_LT(count, questions / 4) << answer;
  EXPECT_LT(answered_by_newest, 0.55 * questions);  // with one fact it is just half
}

TEST_P(Stories, NoStoryOccursTwice) {
  write_stories(options());
  std::set<std::string> seen;
  for (const std::string split : {"train", "valid", "test"})
    for (const Story& story : read_back(content(split))) EXPECT_TRUE(seen.insert(story.text).second);
  EXPECT_EQ(seen.size(), 400u);
}

TEST_P(Stories, NoQuestionWithItsFactsIsInTwoSplits) {
  StoryOptions many = options();
  many.train = 3000;
  many.validation = many.test = 1000;
  write_stories(many);
  std::map<std::string, std::string> split_of;  // by question and the facts before it
  for (const std::string split : {"train", "valid", "test"})
    for (const Story& story : read_back(content(split)))
      for (const auto& [line, question] : story.questions) {
        std::string asked = question.text;
        for (const auto& [number, fact] : story.facts)
          if (number < line) asked += fact;
        EXPECT_EQ(split_of.emplace(asked, split).first->second, split) << asked;
      }
}

TEST_P(Stories, SplitsAreUnlikeAndDependOnTheSeedAlone) {
  write_stories(options());
  const std::string train = content("train");
  const std::string test = content("test");
  EXPECT_NE(train.substr(0, 200), test.substr(0, 200));
  write_stories(options());
  EXPECT_EQ(content("train"), train);
  StoryOptions other = options();
  other.test = 10;
  EXPECT_THAT(tests::bad_input([&] { write_stories(other); }), testing::HasSubstr("_test.txt: is there already"));
  EXPECT_EQ(content("test"), test);
  std::filesystem::remove_all(other.out);
  write_stories(other);
  EXPECT_EQ(content("train"), train);
  std::filesystem::remove_all(other.out);
  other.seed = 8;
  write_stories(other);
  EXPECT_NE(content("train"), train);
}

TEST_P(Stories, AreReadAsBabi) {
  write_stories(options());
  TaskOptions reading;
  reading.data = options().out.string();
  reading.babi_task = std::to_string(GetParam());
  const Babi babi(reading);
  EXPECT_EQ(babi.size(Split::train), 1500);
  EXPECT_EQ(babi.size(Split::validation), 200);
  EXPECT_EQ(babi.size(Split::test), 300);
}

TEST_P(Stories, ShareNoNameOrThingWithBabi) {
  write_stories(options());
  const std::vector<std::string> list = split_words(content("train"));
  const std::set<std::string> words(list.begin(), list.end());
  ASSERT_EQ(words.count("galley"), 1u);
  for (const std::string word :
       {"Mary",     "John",     "Sandra", "Daniel",  "kitchen",   "garden", "office",    "hallway",   "bedroom",
        "bathroom", "football", "milk",   "apple",   "went",      "moved",  "travelled", "journeyed", "got",
        "grabbed",  "picked",   "took",   "dropped", "discarded", "left",   "put"})
    EXPECT_EQ(words.count(word), 0u) << word;
}

class StoriesOfThings : public Stories {};

/// With two facts: about things that are carried as often as their share of the things touched. With three: about a
/// thing's newest place as often as its share of the places that the thing was brought to.
TEST_P(StoriesOfThings, AskAboutCandidatesUniformly) {
  write_stories(options());
  double seen = 0;
  double expected = 0;
  for (const Story& story : read_back(content("train"))) {
    for (const auto& [line, question] : story.questions) {
      const Reader reader = reader_before(line, story);
      const std::vector<std::string> words = split_words(question.text);
      if (GetParam() == 2) {
        seen += reader.is_lying(words[3]) ? 1 : 0;
        expected += reader.share_of_lying();
      } else {
        const std::vector<std::string>& trail = reader.trail(words[3]);
        seen += words[6] == trail.back() ? 1 : 0;
        expected += 1.0 / static_cast<double>(std::set<std::string>(trail.begin() + 1, trail.end()).size());
      }
    }
  }
  EXPECT_GT(expected, 100);
  EXPECT_NEAR(seen, expected, 4 * std::sqrt(expected));
}

INSTANTIATE_TEST_SUITE_P(Facts, Stories, testing::Values(1, 2, 3));
INSTANTIATE_TEST_SUITE_P(Facts, StoriesOfThings, testing::Values(2, 3));

TEST(StoryOptionsTest, DirectoryThatCannotBeMadeIsNamed) {
  const tests::TemporaryDirectory directory;
  StoryOptions options;
  options.out = directory.write("file", "") / "below";
  EXPECT_NE(tests::bad_input([&] { write_stories(options); }).find("--out " + options.out.string()), std::string::npos);
  options.out.clear();
  EXPECT_NE(tests::bad_input([&] { write_stories(options); }).find("--out"), std::string::npos);
}

TEST(StoryOptionsTest, ASplitWithoutStoriesHasNoFile) {
  const tests::TemporaryDirectory directory;
  StoryOptions options;
  options.out = directory.path();
  options.train = options.test = 1;
  options.validation = 0;
  write_stories(options);
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "qa1_one-supporting-fact_test.txt"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "qa1_one-supporting-fact_valid.txt"));
}

TEST(StoryOptionsTest, FileThatCannotBeWrittenIsNamed) {
  const tests::TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() / "qa1_one-supporting-fact_test.txt" / "in-the-way");
  StoryOptions options;
  options.out = directory.path();
  EXPECT_NE(tests::bad_input([&] { write_stories(options); }).find("qa1_one-supporting-fact_test.txt"),
            std::string::npos);
}

}  // namespace
}  // namespace ut::datasets
