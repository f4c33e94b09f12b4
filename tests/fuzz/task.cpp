#include "tests/fuzz/task.h"

#include <algorithm>
#include <utility>

#include "datasets/data_check.h"
#include "datasets/make_task.h"
#include "datasets/task_options.h"
#include "tests/fuzz/fuzz.h"

namespace ut::tests {
namespace {

void require_ids(const std::vector<std::int64_t>& ids, const datasets::Task& task) {
  for (const std::int64_t id : ids)
    require(id == datasets::no_answer || (id >= 0 && id < task.vocabulary().size()), "an id outside the vocabulary");
}

void require_right(const datasets::Example& example, const datasets::Task& task) {
  for (const auto& row : example.source) {
    require(std::cmp_less_equal(row.size(), task.words_per_row()), "a row of more words than the task says");
    require_ids(row, task);
  }
  require_ids(example.target, task);
  if (!task.points()) require_ids({example.answer}, task);
  require(std::ranges::all_of(example.candidates, [&](std::int64_t candidate) { return candidate >= -1; }),
          "a candidate that is none");
  std::vector<std::int64_t> known;  // what a model may output
  for (const std::int64_t id : example.target)
    if (id >= 0 && id != datasets::end_of_sequence_id) known.push_back(id);
  try_action([&] { task.render(known); });
}

}  // namespace

bool try_task(const datasets::TaskOptions& options) {
  using datasets::Split;
  datasets::DataCheck found;
  try_action([&] { found = datasets::check_data(options); });
  for (const auto* lines : {&found.description, &found.warnings, &found.errors})
    for (const std::string& line : *lines) require_printable_line(line);
  return try_action([&] {
    const auto task = datasets::make_task(options);
    require_printable_line(task->description());
    for (const Split split : datasets::all_splits)
      for (std::int64_t index = 0; index < std::min<std::int64_t>(task->size(split), 100); ++index) {
        require_right(task->example(split, index), *task);
        if (task->is_scored_as_text() && split != Split::train)
          require(task->right_text(split, index).find('\n') == std::string::npos, "a text of several lines");
      }
    task->vocabulary().digest();
  });
}

}  // namespace ut::tests
