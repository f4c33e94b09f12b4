#include <ATen/Parallel.h>

#include <nlohmann/json.hpp>

#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/state_reader.h"
#include "datasets/make_task.h"
#include "launcher/commands.h"
#include "launcher/ranks/device.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {

void check_before_start(const Options& options) {
  // The process that starts the ranks waits for signals, which another thread could take from it.
  at::set_num_threads(1);
  if (options.hostfile.empty())
    choose_communicator(options.communicator, choose_device(options.device, gpus_for(options.device), 0));
  if (options.task.task.empty()) return;
  const auto task = datasets::make_task(options.task);
  if (options.command != "train") {
    load_model(options, *task, chosen_checkpoints(options));
    return;
  }
  check_run_directory(options);
  if (!options.resume) return;
  const auto checkpoint = core::find_checkpoint(checkpoint_directory(options.run_dir), options.resume_from);
  check_vocabulary(checkpoint.string(),
                   core::StateReader(core::read_state(checkpoint), checkpoint).text("vocabulary", ""), *task);
}

}  // namespace ut::launcher
