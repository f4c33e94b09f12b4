#include "launcher/data.h"

#include <fmt/format.h>

#include "datasets/stories.h"

namespace ut::launcher {
namespace {

using datasets::questions_per_story;

std::int64_t stories_for(std::int64_t questions) { return (questions + questions_per_story - 1) / questions_per_story; }

}  // namespace

int run_data(const Options& options) {
  const DataOptions& given = options.data;
  datasets::StoryOptions stories;
  stories.facts = static_cast<int>(given.facts);
  stories.train = stories_for(given.train);
  stories.validation = stories_for(given.validation);
  stories.test = stories_for(given.test);
  stories.seed = options.seed;
  stories.out = given.out;
  datasets::write_stories(stories);
  if (options.quiet) return 0;
  const auto questions = [](std::int64_t count) { return count * questions_per_story; };
  fmt::print("{}: stories that need {} fact{}, questions: {} train, {} validation, {} test\n", given.out, given.facts,
             given.facts == 1 ? "" : "s", questions(stories.train), questions(stories.validation),
             questions(stories.test));
  fmt::print("train on them: ut train --task babi --babi-task {} --data {} --run-dir DIR\n", given.facts, given.out);
  return 0;
}

}  // namespace ut::launcher
