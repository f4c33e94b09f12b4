#include "launcher/ranks/agreed_checkpoints.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/checkpoint.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/rank_checks.h"
#include "launcher/ranks/shared_values.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {

std::vector<std::filesystem::path> agreed_checkpoints(const Options& options, dist::Communicator& world) {
  std::string names;  // a line each
  agree(world, [&] {
    if (world.rank() != 0) return;
    for (const auto& checkpoint : chosen_checkpoints(options)) names += checkpoint.filename().string() + "\n";
  });
  std::istringstream lines(text_of_rank(names, 0, world));
  std::vector<std::filesystem::path> checkpoints;
  for (std::string name; std::getline(lines, name);)
    checkpoints.push_back(checkpoint_directory(options.run_dir) / name);
  std::string states;  // their digests; the rest may change while a run evaluates
  agree(world, [&] {
    for (const auto& state : core::read_states(checkpoints)) states += state.at("digests").dump();
  });
  check_same_state(states, options, world);
  return checkpoints;
}

}  // namespace ut::launcher
