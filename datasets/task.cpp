#include "datasets/task.h"

#include <algorithm>

#include "base/error.h"
#include "datasets/words.h"

namespace ut::datasets {

std::string Task::render(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (const std::int64_t id : ids) text += (text.empty() ? "" : " ") + vocabulary().symbol(id);
  return text;
}

const char* name_of(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::validation:
      return "validation";
    case Split::control:
      return "control";
    case Split::test:
      break;
  }
  return "test";
}

Split split_of(std::string_view source) { return all_splits[text_hash(source) % std::size(all_splits)]; }

void check_splits(const Task& task, const std::vector<Split>& splits) {
  if (std::ranges::count(splits, Split::control) > 0 && !task.has_control())
    throw base::BadInput("--split control: this data has none; needs test, validation or train");
}

}  // namespace ut::datasets
