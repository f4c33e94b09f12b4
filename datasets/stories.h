#pragma once

#include <cstdint>
#include <filesystem>

namespace ut::datasets {

inline constexpr int questions_per_story = 5;
inline constexpr std::int64_t most_stories = 100'000;  // per split

/// The options of `ut data stories`.
struct StoryOptions {
  int facts = 1;                  // lines that a question needs: 1, 2 or 3
  std::int64_t train = 2000;      // stories, at most most_stories, as in the next two
  std::int64_t validation = 200;  // stories; 0: no such file
  std::int64_t test = 200;        // stories
  std::uint64_t seed = 1;
  std::filesystem::path out;  // directory; made if it is missing
};

/// Writes stories about a ship's crew in bAbI's file format, under the names that the task `babi` reads as task 1, 2 or
/// 3 (`qa1_one-supporting-fact_train.txt`, `…_valid.txt`, `…_test.txt`). A pure function of the options. No story
/// occurs twice, and no two of these files have a question after the same facts. Throws base::BadInput if the
/// directory cannot be written to or has such files with other stories. Throws another exception if writing fails; no
/// new file is left then.
void write_stories(const StoryOptions& options);

}  // namespace ut::datasets
