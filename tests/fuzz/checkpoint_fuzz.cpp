// A checkpoint's state.json, as it is and with the right digests. A second part is the content of `latest`, a third one
// the optimizer's file.

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/safetensors.h"
#include "core/state_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace ut;

const std::string name = "update-00000007";

std::string digest_of(const std::string& bytes) { return base::digest(bytes.data(), bytes.size()); }

core::Safetensors tensors_named(const std::vector<std::string>& prefixes, const core::Parameters& parameters) {
  core::Safetensors content;
  for (const std::string& prefix : prefixes)
    for (const auto& [parameter, tensor] : parameters.all()) content.tensors[prefix + parameter] = tensor;
  return content;
}

/// Adds the digests that make the state pass as genuine, so that the checks behind them are reached, too.
std::string with_digests(const std::string& text, const std::string& model, const std::string& optimizer) {
  nlohmann::json state = nlohmann::json::parse(text, nullptr, false);
  if (!state.is_object()) return text;
  if (!state.contains("format")) state["format"] = 1;
  if (!state.contains("digests"))
    state["digests"] = {{"model.safetensors", digest_of(model)}, {"optimizer.safetensors", digest_of(optimizer)}};
  state.erase("digest");
  state["digest"] = digest_of(state.dump());
  return state.dump(2);
}

/// Reads what `ut train --resume` reads.
void read_all(const std::filesystem::path& checkpoint, core::Parameters& parameters) {
  const auto state = core::read_state(checkpoint);
  const core::StateReader read(state, checkpoint);
  read.text("vocabulary", "");
  for (const char* field : {"samples", "part_of_window", "encoder_steps"})
    tests::require(read.whole(field, 0) >= 0, "");
  tests::require(read.whole("best_update", -1, -1) >= -1, "an update before the first");
  read.number("hours", 0);
  core::Adam optimizer({}, parameters);
  core::load_checkpoint(checkpoint, parameters, &optimizer);
  tests::require(optimizer.updates() >= 0, "an update before the first");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tests::TemporaryDirectory directory;
  static const bool has_checkpoint = std::filesystem::create_directories(directory.path() / name);
  tests::require(has_checkpoint, "no directory");
  core::Parameters parameters(core::Precision::float32, 1);
  parameters.add_constant("kernel", {2, 2}, 0.5);
  parameters.add_constant("bias", {2}, 0);
  parameters.flatten();
  const std::vector<std::string> parts = tests::parts_of(data, size, 3);
  const std::string model = core::safetensors_bytes(tensors_named({""}, parameters));
  const std::string whole = core::safetensors_bytes(tensors_named({"first_moment.", "second_moment."}, parameters));
  const std::string& optimizer = parts[2].empty() ? whole : parts[2];
  tests::overwrite(directory, name + "/model.safetensors", model);
  tests::overwrite(directory, name + "/optimizer.safetensors", optimizer);
  tests::overwrite(directory, "latest", parts[1].empty() ? name : parts[1]);
  for (const std::string& state : {parts[0], with_digests(parts[0], model, optimizer)}) {
    tests::overwrite(directory, name + "/state.json", state);
    tests::try_action([&] {
      const std::filesystem::path found = core::find_checkpoint(directory.path(), "latest");
      tests::require(found.parent_path() == directory.path(), "a checkpoint elsewhere");
      read_all(found, parameters);
    });
  }
  tests::try_action([&] { core::find_checkpoint(directory.path(), parts[0]); });
  return 0;
}
