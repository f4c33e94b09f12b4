#include "launcher/ranks/agree.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "launcher/ranks/shared_text.h"

namespace ut::launcher {

void agree(dist::Communicator& world, const std::function<void()>& step) {
  std::string problem;
  bool failed = false;
  try {
    step();
  } catch (const base::BadInput& error) {
    failed = true;
    problem = error.what();
  } catch (const std::filesystem::filesystem_error& error) {
    failed = true;
    problem = base::describe(error);
  }
  at::Tensor failures = at::zeros({world.size()}, at::kLong);  // by rank
  failures[world.rank()] = failed ? 1 : 0;
  world.all_reduce_sum(failures, dist::Purpose::control);
  if (failures.sum().item<std::int64_t>() == 0) return;
  const int first = static_cast<int>(failures.argmax().item<std::int64_t>());
  problem = text_of_rank(problem, first, world);
  throw AgreedBadInput(first == 0 ? problem : fmt::format("rank {}: {}", first, problem));
}

void wait_for_all(dist::Communicator& group) {
  group.all_reduce_sum(at::zeros({1}, at::kDouble), dist::Purpose::control);
}

}  // namespace ut::launcher
