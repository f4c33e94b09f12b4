#include "launcher/run/example_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/run/rank_batch.h"

namespace ut::launcher {

std::vector<std::string> symbols_of(const std::vector<std::int64_t>& ids, const datasets::Task& task,
                                    const std::string& instead_of_none) {
  std::vector<std::string> text;
  for (const std::int64_t id : ids) text.push_back(id < 0 ? instead_of_none : task.vocabulary().symbol(id));
  return text;
}

std::vector<std::string> source_texts(const datasets::Example& example, const datasets::Task& task) {
  std::vector<std::string> rows;
  for (const auto& words : example.source)
    rows.push_back(fmt::format("{}", fmt::join(symbols_of(words, task, ""), " ")));
  return rows;
}

std::vector<std::string> label_texts(std::vector<std::int64_t> labels, const datasets::Example& example,
                                     const datasets::Task& task) {
  for (std::int64_t& label : labels)
    if (label >= 0 && !example.candidates.empty())
      label = example.source[static_cast<std::size_t>(pointed_row(example, label))].front();
  return symbols_of(labels, task, task.points() ? "(none of the words before)" : "(outside the vocabulary)");
}

}  // namespace ut::launcher
