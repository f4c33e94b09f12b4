#include "datasets/make_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"
#include "datasets/agreement.h"
#include "datasets/algorithmic.h"
#include "datasets/babi.h"
#include "datasets/lambada.h"
#include "datasets/learning_to_execute.h"
#include "datasets/translation.h"

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
      {"execute-control", make<Execute, Execute::Kind::control_flow>},
      {"execute-addition", make<Execute, Execute::Kind::addition>},
      {"execute-copy", make<Execute, Execute::Kind::copy>},
      {"execute-double", make<Execute, Execute::Kind::doubled>},
      {"execute-reverse", make<Execute, Execute::Kind::reverse>}};
  return table;
}

}  // namespace

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers()) names.push_back(name);
  return names;
}

std::vector<std::string> file_task_names() { return {"babi", "agreement", "lambada", "translation"}; }

std::unique_ptr<Task> make_task(const TaskOptions& options) {
  for (const auto& [name, maker] : makers())
    if (name == options.task) {
      auto task = maker(options);
      check_splits(*task, options.splits);
      return task;
    }
  throw base::BadInput("--task {}: there is no such task; it is one of {}", options.task,
                       fmt::join(task_names(), ", "));
}

}  // namespace ut::datasets
