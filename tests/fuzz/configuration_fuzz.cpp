// A file of options (--config, or options.conf of a run directory), an exported model's config.json, or a calibration.

#include <nlohmann/json.hpp>

#include "launcher/cost/machine_numbers.h"
#include "launcher/options/option_record.h"
#include "launcher/options/option_sources.h"
#include "launcher/options/options.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace ut;

/// Accepted options must be the same after they are written and read again.
void require_to_come_back(const launcher::Options& options) {
  static const tests::TemporaryDirectory run;
  const std::string written = launcher::to_config(options);
  tests::overwrite(run, launcher::config_name, written);
  const std::string directory = run.path().string();
  const launcher::Options resumed = launcher::parse_options({"train", "--run-dir", directory, "--resume"});
  tests::require(launcher::to_config(resumed) == written, "other options than were written down");
  launcher::recorded_options(options, 1);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tests::TemporaryDirectory directory;
  const std::string content(reinterpret_cast<const char*>(data), size);
  if (!content.starts_with('{')) {
    tests::overwrite(directory, "options.conf", content);
    tests::try_action([&] {
      require_to_come_back(launcher::parse_options(
          {"train", "--task", "copy", "--run-dir", "runs/one", "--config", directory / "options.conf"}));
    });
    // The file of a run directory may hold anything, too.
    tests::try_action([&] { launcher::parse_options({"evaluate", "--run-dir", directory.path().string()}); });
    return 0;
  }
  tests::overwrite(directory, launcher::model_config_name, content);
  tests::try_action([&] {
    require_to_come_back(
        launcher::parse_options({"import", "--from", directory.path().string(), "--run-dir", "runs/one"}));
  });
  tests::try_action([&] { launcher::to_json(launcher::parse_machine_numbers(content, "calibration")); });
  return 0;
}
