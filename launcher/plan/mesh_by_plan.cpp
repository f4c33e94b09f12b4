#include "launcher/plan/mesh_by_plan.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "launcher/options/model_options.h"
#include "launcher/plan/mesh_choice.h"
#include "launcher/plan/probe.h"
#include "launcher/process/say.h"
#include "launcher/ranks/agree.h"

namespace ut::launcher {
namespace {

Workload workload(const Options& options, const datasets::Task* task) {
  return task == nullptr ? bench_workload(options) : task_workload(options, model_options(options, *task), *task);
}

/// Gives every rank the mesh and exchange of rank 0: on processors of different kinds the last bits of predictions, and
/// with them a choice, may differ. Collective.
void take_from_first(Layout& layout, dist::Communicator& world) {
  const at::Tensor choice = at::zeros({4}, at::kLong);
  if (world.rank() == 0)
    choice.copy_(
        at::tensor({layout.sequence_parallel, static_cast<std::int64_t>(layout.exchange.form),
                    static_cast<std::int64_t>(layout.exchange.sent), static_cast<std::int64_t>(layout.exchange.cut)},
                   at::kLong));
  world.all_reduce_sum(choice, dist::Purpose::control);
  const auto* chosen = choice.const_data_ptr<std::int64_t>();
  layout.sequence_parallel = chosen[0];
  layout.exchange.form = static_cast<dist::ExchangeForm>(chosen[1]);
  layout.exchange.sent = static_cast<dist::Sent>(chosen[2]);
  layout.exchange.cut = static_cast<dist::Cut>(chosen[3]);
}

/// Assumes the numbering of the program that starts the ranks: as many on each host. If they do not divide evenly, they
/// count as ranks of one node.
Layout chosen_layout(const Options& options, const Workload& work, const MachineNumbers& machine, std::int64_t ranks,
                     std::int64_t most_on_a_host) {
  const bool even = ranks % most_on_a_host == 0;
  FixedChoices fixed;
  if (options.sequence_parallel > 0) fixed.sequence_parallel = options.sequence_parallel;
  if (!options.plan_exchange) {
    fixed.form = options.exchange.form;
    fixed.sent = options.exchange.sent;
    fixed.cut = options.exchange.cut;
  }
  return choose_layout(work, even ? ranks / most_on_a_host : 1, even ? most_on_a_host : ranks, machine, fixed);
}

}  // namespace

Options with_mesh_by_plan(const Options& options, const datasets::Task* task, dist::Communicator& world) {
  Options used = options;
  if (options.sequence_parallel > 0) used.recorded_sequence_parallel = options.sequence_parallel;
  // One rank leaves no choice, and one rank a sequence none of the exchange: a later run on more ranks is to have it.
  if (world.size() == 1) used.sequence_parallel = 1;
  const bool open = used.sequence_parallel == 0 || (options.plan_exchange && used.sequence_parallel > 1);
  if (!open) return used;
  Workload work;
  agree(world, [&] { work = workload(options, task); });
  const Hosts hosts = find_hosts(world);
  const MachineNumbers machine = probe_machine(world, hosts, work);
  Layout layout;
  agree(world, [&] {
    if (world.rank() == 0) layout = chosen_layout(options, work, machine, world.size(), hosts.most_ranks());
  });
  take_from_first(layout, world);
  used.sequence_parallel = used.recorded_sequence_parallel = layout.sequence_parallel;
  if (options.plan_exchange && layout.sequence_parallel > 1) {
    used.exchange = layout.exchange;
    used.plan_exchange = false;
  }
  if (world.rank() == 0 && !options.quiet && !options.json)
    print(fmt::format("mesh that ut plan chooses: data-parallel {}, sequence-parallel {}{}\n",
                      layout.ranks() / layout.sequence_parallel, layout.sequence_parallel,
                      layout.sequence_parallel > 1 ? ", exchange " + exchange_name(layout) : ""));
  return used;
}

}  // namespace ut::launcher
