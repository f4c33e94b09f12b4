#include "datasets/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "datasets/agreement.h"
#include "datasets/algorithmic.h"
#include "datasets/babi.h"
#include "datasets/lambada.h"
#include "datasets/learning_to_execute.h"
#include "datasets/translation.h"
#include "datasets/words.h"

namespace ut::datasets {
namespace {

using Maker = std::unique_ptr<Task> (*)(const TaskOptions&);

template <typename Family, auto... kind>
std::unique_ptr<Task> make(const TaskOptions& options) {
  return std::make_unique<Family>(kind..., options);
}

const std::vector<std::pair<std::string, Maker>>& makers() {
  using Execute = LearningToExecute;
  static const std::vector<std::pair<std::string, Maker>> table = {
      {"copy", make<Algorithmic, Algorithmic::Kind::copy>},
      {"reverse", make<Algorithmic, Algorithmic::Kind::reverse>},
      {"addition", make<Algorithmic, Algorithmic::Kind::addition>},
      {"babi", make<Babi>},
      {"agreement", make<Agreement>},
      {"lambada", make<Lambada>},
      {"translation", make<Translation>},
      {"execute-program", make<Execute, Execute::Kind::program>},
      {"execute-control", make<Execute, Execute::Kind::control>},
      {"execute-addition", make<Execute, Execute::Kind::addition>},
      {"execute-copy", make<Execute, Execute::Kind::copy>},
      {"execute-double", make<Execute, Execute::Kind::doubled>},
      {"execute-reverse", make<Execute, Execute::Kind::reverse>}};
  return table;
}

}  // namespace

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

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers()) names.push_back(name);
  return names;
}

std::vector<std::string> file_task_names() { return {"babi", "agreement", "lambada", "translation"}; }

void check_splits(const Task& task, const std::vector<Split>& splits) {
  if (std::ranges::count(splits, Split::control) > 0 && !task.has_control())
    throw base::BadInput("--split control: this data has none; needs test, validation or train");
}

std::unique_ptr<Task> make_task(const TaskOptions& options) {
  for (const auto& [name, maker] : makers())
    if (name == options.task) {
      auto task = maker(options);
      check_splits(*task, options.splits);
      return task;
    }
  throw base::BadInput(
      fmt::format("--task {}: there is no such task; it is one of {}", options.task, fmt::join(task_names(), ", ")));
}

std::filesystem::path data_directory(const std::string& data, std::string_view files) {
  if (data.empty()) throw base::BadInput(fmt::format("--data is needed: the directory of the {}", files));
  std::error_code code;
  if (!std::filesystem::is_directory(data, code))
    throw base::BadInput(base::is_there(data)
                             ? fmt::format("--data {}: not a directory; needs that of the {}", data, files)
                             : fmt::format("--data {}: no such directory", data));
  return data;
}

void check_range(std::string_view option, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high)
    throw base::BadInput(fmt::format("{} {}: out of range; it is {} to {}", option, value, low, high));
}

}  // namespace ut::datasets
