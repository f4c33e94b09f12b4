#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/counted.h"
#include "base/file.h"
#include "launcher/commands.h"
#include "launcher/plan/mesh_choice.h"
#include "launcher/plan/probe.h"
#include "launcher/process/cores.h"
#include "launcher/process/readable.h"
#include "launcher/process/say.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/rank_hosts.h"

namespace ut::launcher {
namespace {

/// The cluster that is planned for.
struct Cluster {
  std::int64_t nodes;
  std::int64_t ranks_per_node;
  std::int64_t ranks() const { return nodes * ranks_per_node; }
};

/// The cluster that the options describe. What they leave open comes from the ranks found (`hosts`) or the machine's
/// nodes.
Cluster planned_cluster(const Options& options, const MachineNumbers& machine, const Hosts& hosts) {
  const PlanOptions& plan = options.plan;
  const std::int64_t usual = plan.gpus_per_node > 0 ? plan.gpus_per_node : machine.ranks_per_node;
  if (plan.nodes > 0) return {plan.nodes, options.ranks > 0 ? options.ranks / plan.nodes : usual};
  const auto found = static_cast<std::int64_t>(hosts.of_rank.size());
  if (found > 1 && (options.ranks == 0 || options.ranks == found) && plan.gpus_per_node == 0)
    return found % hosts.most_ranks() == 0 ? Cluster{found / hosts.most_ranks(), hosts.most_ranks()}
                                           : Cluster{1, found};
  const std::int64_t ranks = options.ranks > 0 ? options.ranks : usual;
  return usual > 1 && ranks % usual == 0 ? Cluster{ranks / usual, usual} : Cluster{1, ranks};
}

MachineNumbers numbers_of(const Session& session, const Hosts& hosts, const Workload& work) {
  const PlanOptions& plan = session.options.plan;
  if (!plan.machine.empty()) return machine_named(plan.machine);
  if (plan.calibration.empty()) return probe_machine(session.mesh.world(), hosts, work);
  MachineNumbers numbers;
  agree(session.mesh.world(), [&] {
    numbers = parse_machine_numbers(
        base::read_file(plan.calibration, "--calibration", "numbers that --save-calibration wrote"),
        "--calibration " + plan.calibration);
  });
  return numbers;
}

nlohmann::ordered_json to_json(const Candidate& one) {
  const Seconds& seconds = one.prediction.seconds;
  return {{"data_parallel", one.layout.ranks() / one.layout.sequence_parallel},
          {"sequence_parallel", one.layout.sequence_parallel},
          {"exchange", one.layout.sequence_parallel == 1 ? "none" : name_of(one.layout.exchange.form)},
          {"sends", name_of(one.layout.exchange.sent)},
          {"shards", name_of(one.layout.exchange.cut)},
          {"update_s", seconds.total()},
          {"seconds",
           {{"products", seconds.products},
            {"attention", seconds.attention},
            {"element_wise", seconds.element_wise},
            {"operations", seconds.operations},
            {"exchange", seconds.exchange},
            {"gradients", seconds.gradients},
            {"optimizer", seconds.optimizer}}},
          {"efficiency", one.prediction.efficiency},
          {"peak_bytes", one.prediction.peak_bytes},
          {"exchanged_bytes", one.prediction.exchanged_bytes},
          {"fits", one.fits}};
}

/// Everything that `ut plan` prints.
struct Plan {
  Workload work;
  Cluster cluster;
  MachineNumbers machine;
  std::vector<Candidate> all;
};

nlohmann::ordered_json to_json(const Plan& plan) {
  nlohmann::ordered_json json{{"prediction", true},
                              {"machine", plan.machine.source},
                              {"ranks", plan.cluster.ranks()},
                              {"nodes", plan.cluster.nodes},
                              {"ranks_per_node", plan.cluster.ranks_per_node},
                              {"parameters", parameter_count(plan.work.model)},
                              {"best", to_json(plan.all.front())},
                              {"reasons", reasons(plan.work, plan.all)},
                              {"candidates", nlohmann::ordered_json::array()}};
  for (const Candidate& one : plan.all) json["candidates"].push_back(to_json(one));
  return json;
}

std::string table_row(const Candidate& one, bool is_best) {
  const Prediction& made = one.prediction;
  const std::string mesh =
      fmt::format("{} x {}", one.layout.ranks() / one.layout.sequence_parallel, one.layout.sequence_parallel);
  return fmt::format("{} {:<12} {:<32} {:>9} {:>9} {:>9.0f} % {:>11}{}\n", is_best ? '*' : ' ', mesh,
                     exchange_name(one.layout), readable_seconds(made.seconds.total()),
                     readable_seconds(made.seconds.exchange), 100 * made.efficiency, readable(made.peak_bytes, "B"),
                     one.fits ? "" : "  does not fit");
}

std::string describe_parts(const Seconds& seconds) {
  const double total = seconds.total();
  return fmt::format(
      "matrix products {:.0f} %, attention {:.0f} %, element-wise {:.0f} %, operations' fixed costs {:.0f} %, exchange "
      "{:.0f} %, gradients' all-reduce {:.0f} %, optimizer {:.0f} %",
      100 * seconds.products / total, 100 * seconds.attention / total, 100 * seconds.element_wise / total,
      100 * seconds.operations / total, 100 * seconds.exchange / total, 100 * seconds.gradients / total,
      100 * seconds.optimizer / total);
}

/// A line that counts the possible meshes that are not in the table, and says why; empty if all are in it.
std::string describe_others(const Plan& plan) {
  const std::int64_t ranks = plan.cluster.ranks();
  std::set<std::int64_t> others;
  for (std::int64_t divisor = 1; divisor * divisor <= ranks; ++divisor)
    if (ranks % divisor == 0) others.insert({divisor, ranks / divisor});
  const auto beyond = std::ranges::count_if(others, [&](auto shared) { return shared > plan.work.longest; });
  if (beyond == 0) return "";
  return fmt::format("  and {} more, not considered: a sequence would have more ranks than its {} positions\n", beyond,
                     plan.work.longest);
}

std::string describe(const Plan& plan) {
  const Candidate& best = plan.all.front();
  std::string text =
      fmt::format("prediction, not measurement; machine: {}\n", plan.machine.source) +
      fmt::format("{} parameters; {} an update; {} on {}\n\n", readable_count(parameter_count(plan.work.model)),
                  base::counted(plan.work.sequences, "sequence"), base::counted(plan.cluster.ranks(), "rank"),
                  base::counted(plan.cluster.nodes, "node")) +
      fmt::format("  {:<12} {:<32} {:>9} {:>9} {:>11} {:>11}\n", "data x seq.", "exchange", "update", "exposed",
                  "efficiency", "memory/rank");
  const std::int64_t chosen = best.layout.sequence_parallel;
  for (const Candidate& one : best_of_each_mesh(plan.all))
    text += table_row(one, one.layout.sequence_parallel == chosen);
  text += describe_others(plan);
  text += fmt::format("\nbest: --sequence-parallel {}", chosen);
  if (chosen > 1)
    text += fmt::format(" --exchange {} --exchange-sends {} --shards {}", name_of(best.layout.exchange.form),
                        name_of(best.layout.exchange.sent), name_of(best.layout.exchange.cut));
  text += fmt::format("; its time: {}\n", describe_parts(best.prediction.seconds));
  for (const std::string& reason : reasons(plan.work, plan.all)) text += fmt::format("- {}\n", reason);
  return text;
}

}  // namespace

bool plan_measures_ranks(const Options& options) {
  const PlanOptions& plan = options.plan;
  const bool measures = plan.machine.empty() && plan.calibration.empty();
  constexpr std::int64_t most_ranks_of_core = 2;  // more would measure how they wait for one another
  return measures && plan.nodes == 0 && options.ranks <= most_ranks_of_core * usable_cores();
}

int plan(Session& session) {
  const Options& options = session.options;
  const Hosts hosts = find_hosts(session.mesh.world());
  Plan made;
  made.work = bench_workload(options);
  made.machine = numbers_of(session, hosts, made.work);
  if (!session.speaks()) return 0;
  if (!options.plan.save_calibration.empty())
    base::write_file_whole(options.plan.save_calibration, to_json(made.machine).dump(2) + "\n");
  made.cluster = planned_cluster(options, made.machine, hosts);
  made.all = candidates(made.work, made.cluster.nodes, made.cluster.ranks_per_node, made.machine);
  print(options.json ? to_json(made).dump() + "\n" : describe(made));
  return 0;
}

}  // namespace ut::launcher
