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

/// What an update of training on the task's examples works on, by some hundred of them.
Workload task_workload(const Options& options, const core::ModelOptions& model, const datasets::Task& task);

/// One way to share the work.
struct Candidate {
  Layout layout;
  Prediction prediction;
  bool fits = true;  // into the ranks' memory
};

/// Every mesh of these ranks with every form of exchange that it can have, those that fit first, the fastest first.
std::vector<Candidate> candidates(const Workload& work, std::int64_t nodes, std::int64_t ranks_per_node,
                                  const MachineNumbers& machine);

/// For each mesh the first of the candidates, in their order.
std::vector<Candidate> best_of_each_mesh(const std::vector<Candidate>& all);

/// Why the first of the candidates is the best, in a line each.
std::vector<std::string> reasons(const Workload& work, const std::vector<Candidate>& all);

/// What was asked for; the rest is chosen.
struct FixedChoices {
  std::optional<std::int64_t> sequence_parallel;
  std::optional<dist::ExchangeForm> form;
  std::optional<dist::Sent> sent;
  std::optional<dist::Cut> cut;
};

/// The best layout with what is fixed; throws base::BadInput where no layout has all that is.
Layout choose_layout(const Workload& work, std::int64_t nodes, std::int64_t ranks_per_node,
                     const MachineNumbers& machine, const FixedChoices& fixed);

/// "all-gather of keys-values"; "none" where no rank shares a sequence.
std::string exchange_name(const Layout& layout);

}  // namespace ut::launcher
