#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/task.h"
#include "launcher/cost/cost_model.h"
#include "launcher/options/exchange_names.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// What `ut bench` works on with these options.
Workload bench_workload(const Options& options);

/// What a training update on the task's examples works on, estimated from some hundred of them.
Workload task_workload(const Options& options, const core::ModelOptions& model, const datasets::Task& task);

/// One way to share the work.
struct Candidate {
  Layout layout;
  Prediction prediction;
  bool fits = true;  // into the ranks' memory
};

/// Every mesh of these ranks with every exchange that it can have. Those that fit into memory come first, the fastest
/// of them first; then the others, the one that needs least memory first.
std::vector<Candidate> candidates(const Workload& work, std::int64_t nodes, std::int64_t ranks_per_node,
                                  const MachineNumbers& machine);

/// The first candidate of each mesh, in their order.
std::vector<Candidate> best_of_each_mesh(const std::vector<Candidate>& all);

/// Why the first candidate is the best, one reason a line.
std::vector<std::string> reasons(const Workload& work, const std::vector<Candidate>& all);

/// The choices that were asked for. The others are open.
struct FixedChoices {
  std::optional<std::int64_t> sequence_parallel;
  std::optional<dist::ExchangeForm> form;
  std::optional<dist::Sent> sent;
  std::optional<dist::Cut> cut;
};

/// The best layout with the fixed choices. Throws base::BadInput if no layout has them all.
Layout choose_layout(const Workload& work, std::int64_t nodes, std::int64_t ranks_per_node,
                     const MachineNumbers& machine, const FixedChoices& fixed);

/// "all-gather of keys-values"; "none" if no ranks share a sequence.
std::string exchange_name(const Layout& layout);

}  // namespace ut::launcher
