#include "datasets/stories.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/philox.h"
#include "datasets/story_world.h"

namespace ut::datasets {
namespace {

/// The name and the lengths of a kind of story.
struct Shape {
  std::string_view name;
  std::int64_t shortest_block;  // facts between two questions
  std::int64_t longest_block;
  std::int64_t longest_story;  // facts in all
};

constexpr std::array<Shape, 3> shapes = {{{"qa1_one-supporting-fact", 2, 2, 10},
                                          {"qa2_two-supporting-facts", 2, 8, 40},
                                          {"qa3_three-supporting-facts", 4, 16, 80}}};

const Shape& shape_of(int facts) { return shapes[static_cast<std::size_t>(facts - 1)]; }

/// Empty if the story got too long before something could be asked.
std::string draw_story(int facts, std::uint64_t key) {
  const Shape& shape = shape_of(facts);
  base::Random random(key);
  StoryWorld world(facts, random);
  std::string text;
  std::int64_t line = 0;
  std::int64_t told = 0;
  for (int question = 0; question < questions_per_story; ++question) {
    const std::int64_t until = told + random.uniform(shape.shortest_block, shape.longest_block);
    while (told < until || !world.can_ask()) {
      ++told;
      ++line;
      text += fmt::format("{} {}\n", line, world.act(line));
    }
    if (told > shape.longest_story) return {};
    const StoryQuestion asked = world.ask();
    text += fmt::format("{} {} \t{}\t{}\n", ++line, asked.text, asked.answer, fmt::join(asked.supporting, " "));
  }
  return text;
}

enum class StorySplit : std::uint64_t { test, validation, train };  // part of the key that the stories are drawn with

/// The first two facts decide a story's split, so that no two splits ask the same after the same facts. Of eight
/// beginnings one is for the test and one for validation.
StorySplit split_by_beginning(const std::string& story) {
  const std::size_t second = story.find('\n') + 1;
  const char chosen = base::digest(story.data(), story.find('\n', second)).front();  // a hexadecimal digit
  if (chosen < '2') return StorySplit::test;
  return chosen < '4' ? StorySplit::validation : StorySplit::train;
}

/// Different stories of this split.
std::string draw_stories(int facts, std::int64_t count, std::uint64_t key, StorySplit split) {
  std::unordered_set<std::string> seen;
  std::string text;
  std::uint64_t drawn = 0;
  for (std::int64_t accepted = 0; accepted < count;) {
    const std::string story = draw_story(facts, base::mix(key, drawn++));
    if (story.empty() || split_by_beginning(story) != split ||
        !seen.insert(base::digest(story.data(), story.size())).second)
      continue;
    text += story;
    ++accepted;
  }
  return text;
}

/// Writes all files or none. After a failure it also removes the directory if that is new.
void write(const std::map<std::filesystem::path, std::string>& files, const std::filesystem::path& directory,
           bool is_new_directory) {
  std::vector<std::filesystem::path> made;
  try {
    for (const auto& [file, text] : files) {
      if (text.empty()) continue;
      const bool is_new = !base::path_exists(file);
      base::write_file_whole(file, text);
      if (is_new) made.push_back(file);
    }
  } catch (const std::exception&) {
    for (const auto& file : made) std::filesystem::remove(file);
    if (is_new_directory) std::filesystem::remove(directory);
    throw;
  }
}

/// A file that is there already may be what a run was trained on.
void check_nothing_is_lost(const std::filesystem::path& file, const std::string& text) {
  if (base::path_exists(file) && base::read_file(file) != text)
    throw base::BadInput("{}: is there already, with other stories; remove it, or give another --out", file.string());
}

}  // namespace

void write_stories(const StoryOptions& options) {
  std::error_code code;
  const bool is_new = std::filesystem::create_directories(options.out, code);
  if (std::error_code ignored; !std::filesystem::is_directory(options.out, ignored))
    throw base::BadInput("--out {}: cannot be made: {}; a directory is needed", options.out.string(), code.message());
  if (::access(options.out.c_str(), W_OK) != 0)
    throw base::BadInput("--out {}: cannot be written to: {}; needs a directory that you may write to",
                         options.out.string(), std::strerror(errno));
  struct SplitFile {
    std::string_view name;
    StorySplit split;
    std::int64_t stories;
  };
  const std::array<SplitFile, 3> splits = {{{"test", StorySplit::test, options.test},
                                            {"valid", StorySplit::validation, options.validation},
                                            {"train", StorySplit::train, options.train}}};
  std::map<std::filesystem::path, std::string> files;
  const std::uint64_t key = base::mix(options.seed, static_cast<std::uint64_t>(options.facts));
  for (const auto& [name, split, stories] : splits)
    files[options.out / fmt::format("{}_{}.txt", shape_of(options.facts).name, name)] =
        draw_stories(options.facts, stories, base::mix(key, static_cast<std::uint64_t>(split)), split);
  for (const auto& [file, text] : files) check_nothing_is_lost(file, text);
  write(files, options.out, is_new);
}

}  // namespace ut::datasets
