#include "datasets/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "datasets/algorithmic.h"
#include "datasets/babi.h"

namespace ut::datasets {

std::vector<std::string> task_names() { return {"copy", "reverse", "addition", "babi"}; }

std::unique_ptr<Task> make_task(const TaskOptions& options) {
  if (options.task == "copy") return std::make_unique<Algorithmic>(Algorithmic::Kind::copy, options);
  if (options.task == "reverse") return std::make_unique<Algorithmic>(Algorithmic::Kind::reverse, options);
  if (options.task == "addition") return std::make_unique<Algorithmic>(Algorithmic::Kind::addition, options);
  if (options.task == "babi") return std::make_unique<Babi>(options);
  throw base::BadInput(
      fmt::format("--task {}: there is no such task; it is one of {}", options.task, fmt::join(task_names(), ", ")));
}

}  // namespace ut::datasets
