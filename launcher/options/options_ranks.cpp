#include "launcher/options/exchange_names.h"
#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

using dist::ExchangeOptions;

constexpr unsigned model_using_commands = command_evaluate | command_decode;  // those that use a trained model

/// Adds options that depend on the machine. A run records them, but commands that use its model do not go by that
/// record.
void add_machine_options(Table& table, unsigned commands, const std::vector<OptionEntry>& entries) {
  table.add("Ranks", commands & ~model_using_commands, true, entries);
  table.add("Ranks", commands & model_using_commands, false, entries);
}

OptionEntry sequence_parallel(const std::string& otherwise) {
  return none_if_zero(may_change_on_resume(
      whole("sequence-parallel", "ranks that share a sequence's positions, a divisor of --ranks; " + otherwise,
            &Options::sequence_parallel, 1, 1 << 20)));
}

void add_devices(Table& table) {
  add_machine_options(
      table, rank_commands,
      {may_change_on_resume(
           choice("device", "where the ranks compute; each rank gets a GPU of its own", &Options::device,
                  {{"auto", DeviceChoice::automatic}, {"cpu", DeviceChoice::cpu}, {"cuda", DeviceChoice::cuda}})),
       may_change_on_resume(choice("communicator", "what carries the ranks' messages", &Options::communicator,
                                   {{"auto", CommunicatorChoice::automatic},
                                    {"mpi", CommunicatorChoice::mpi},
                                    {"nccl", CommunicatorChoice::nccl}})),
       may_change_on_resume(
           flag("share-gpus", "let ranks share a GPU: slow, only for trying things out", &Options::share_gpus))});
}

OptionEntry exchange_form() {
  return may_change_on_resume(choice("exchange", "how keys and values reach the ranks of a sequence",
                                     in(&Options::exchange, &ExchangeOptions::form), exchange_forms()));
}

/// auto is the plan for updates, so commands that use a trained model do not take it.
OptionEntry exchange_form_or_auto() {
  auto entry = exchange_form();
  entry.description += "; auto: ut plan chooses this, --exchange-sends and --shards";
  entry.expected += " or auto";
  entry.set = [named = entry.set](Options& options, const std::string& text) {
    options.plan_exchange = text == "auto";
    return options.plan_exchange || named(options, text);
  };
  entry.get = [named = entry.get](const Options& options) { return options.plan_exchange ? "auto" : named(options); };
  return entry;
}

OptionEntry hostfile() {
  OptionEntry entry = absolute_path(
      "hostfile", "FILE", "hosts to start the ranks on with ssh, one line each: HOST slots=N; none: this machine",
      &Options::hostfile);
  entry.set = [is_path = entry.set](Options& options, const std::string& text) {
    if (text != "none") return is_path(options, text);
    options.hostfile.clear();  // that of the run's record
    return true;
  };
  return entry;
}

}  // namespace

void add_ranks(Table& table) {
  auto ranks = none_if_zero(may_change_on_resume(
      whole("ranks", "number of processes; the program starts them itself, unless mpirun or srun has", &Options::ranks,
            1, 1 << 20)));
  add_machine_options(table, rank_commands | command_plan | command_doctor, {ranks});
  table.add("Ranks", rank_commands & ~model_using_commands, true,
            {sequence_parallel("default: as ut plan chooses"), exchange_form_or_auto()});
  table.add("Ranks", model_using_commands, false, {sequence_parallel("default: 1")});
  table.add("Ranks", model_using_commands, true, {exchange_form()});
  table.add("Ranks", rank_commands, true,
            {may_change_on_resume(choice("exchange-sends", "what is sent for a row: 2d numbers, or d",
                                         in(&Options::exchange, &ExchangeOptions::sent), exchange_sends())),
             may_change_on_resume(choice("shards", "which positions a rank holds in the decoder",
                                         in(&Options::exchange, &ExchangeOptions::cut), exchange_cuts()))});
  add_machine_options(table, rank_commands | command_plan | command_doctor,
                      {may_change_on_resume(whole(
                           "threads", "threads per rank; 0: OMP_NUM_THREADS, or cores / ranks if ut starts the ranks",
                           &Options::threads, 0, 4096)),
                       may_change_on_resume(hostfile())});
  table.add("Ranks", rank_commands | command_plan | command_doctor, true,
            {may_change_on_resume(whole("timeout", "seconds that ranks wait for one another before they end the job",
                                        &Options::timeout, 10, 1 << 20))});
  add_devices(table);
}

}  // namespace ut::launcher::option_groups
