#include "launcher/ranks/agree.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <future>

#include "base/file.h"
#include "launcher/ranks/rank_hosts.h"
#include "launcher/ranks/shared_values.h"

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
  const at::Tensor failures = numbers_of_ranks(at::full({1}, failed ? 1 : 0, at::kLong), world);
  if (failures.sum().item<std::int64_t>() == 0) return;
  const int first = static_cast<int>(failures.argmax().item<std::int64_t>());
  if (world.rank() > 0) problem = fmt::format("rank {} on host {}: {}", world.rank(), host_name(), problem);
  throw AgreedBadInput(text_of_rank(problem, first, world));
}

bool is_so_on_any(dist::Communicator& world, bool here) {
  const at::Tensor ranks = at::full({1}, here ? 1 : 0, at::kLong);
  world.all_reduce_sum(ranks, dist::Purpose::control);
  return ranks.item<std::int64_t>() > 0;
}

bool is_so_on_first(dist::Communicator& world, bool here) { return is_so_on_any(world, world.rank() == 0 && here); }

void run_on_first(dist::Communicator& world, const std::function<void()>& work) {
  constexpr std::chrono::milliseconds patience(500);
  std::future<void> result;
  if (world.rank() == 0) result = std::async(std::launch::async, work);
  const auto is_done = [&] { return result.valid() && result.wait_for(patience) == std::future_status::ready; };
  while (!is_so_on_first(world, is_done())) {
  }
  if (result.valid()) result.get();
}

void run_on_first_or_refuse(dist::Communicator& world, const std::function<void()>& work) {
  std::exception_ptr thrown;
  run_on_first(world, [&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  agree(world, [&] {  // turns bad input into AgreedBadInput on all ranks
    if (thrown) std::rethrow_exception(thrown);
  });
}

void wait_for_all(dist::Communicator& group) {
  group.all_reduce_sum(at::zeros({1}, at::kDouble), dist::Purpose::control);
}

}  // namespace ut::launcher
