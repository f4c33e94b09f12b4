#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/words.h"

namespace ut::datasets {

/// Words as numbers of a WordTable.
using Sentence = std::vector<std::int32_t>;

struct BabiQuestion {
  Sentence words;
  std::int32_t answer = 0;
  std::int64_t facts = 0;  // how many of the story's facts are told before the question
};

struct BabiStory {
  std::vector<Sentence> facts;  // oldest first; questions are not facts
  std::vector<BabiQuestion> questions;
  std::int64_t task = 0;  // 1 to 20
};

/// What becomes of an answer that is a list, such as `apple,milk`.
enum class AnswerCommas { keep, drop };

/// Reads the text of a file in bAbI's format: lines `NUMBER STATEMENT` and `NUMBER QUESTION<tab>ANSWER[<tab>FACTS]`;
/// number 1 starts a story. FACTS, the numbers of the supporting facts, are not looked at. `name` is the file's name in
/// messages. Adds the words to `table`. Throws base::BadInput, "file:line: what is wrong", if the text is malformed or
/// has no question.
std::vector<BabiStory> read_babi_stories(const std::string& content, const std::string& name, AnswerCommas commas,
                                         WordTable& table);

}  // namespace ut::datasets
