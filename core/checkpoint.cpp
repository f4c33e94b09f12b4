#include "core/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "core/safetensors.h"
#include "core/state_reader.h"

namespace ut::core {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* model_file = "model.safetensors";
constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* state_file = "state.json";
constexpr int format_version = 1;

std::string name_of(std::int64_t update) { return fmt::format("update-{:08d}", update); }

/// Tells checkpoints from what a write that was killed left beside them.
bool is_checkpoint_name(std::string_view name) {
  constexpr std::string_view prefix = "update-";
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

std::string optimizer_bytes(const Model& model, const Adam& optimizer) {
  Safetensors content;
  const auto& parameters = model.parameters().all();
  for (const auto& [name, tensor] : views_of(optimizer.first_moment(), parameters))
    content.tensors["first_moment." + name] = tensor;
  for (const auto& [name, tensor] : views_of(optimizer.second_moment(), parameters))
    content.tensors["second_moment." + name] = tensor;
  return safetensors_bytes(content);
}

std::string digest_of(const json& state) {
  const std::string text = state.dump();
  return base::digest(text.data(), text.size());
}

std::string whole_file(const fs::path& path, const std::string& digest) {
  std::string bytes = base::read_file(path);
  if (base::digest(bytes.data(), bytes.size()) != digest)
    throw base::BadInput(fmt::format(
        "{}: altered or cut short since it was written (its digest differs); use another checkpoint", path.string()));
  return bytes;
}

/// Copies the named tensors into `targets`; they must be the same set with the same shapes and type.
void fill(const std::vector<Parameter>& targets, const Safetensors& content, const std::string& prefix,
          const fs::path& path) {
  const at::NoGradGuard no_graph;
  for (const auto& [name, target] : targets) {
    const auto found = content.tensors.find(prefix + name);
    if (found == content.tensors.end())
      throw base::BadInput(fmt::format("{}: has no tensor {}{}, which the model needs", path.string(), prefix, name));
    if (found->second.sizes() != target.sizes() || found->second.scalar_type() != target.scalar_type())
      throw base::BadInput(fmt::format("{}: tensor {}{} is {} {}, the model needs {} {}", path.string(), prefix, name,
                                       toString(found->second.scalar_type()), fmt::join(found->second.sizes(), "x"),
                                       toString(target.scalar_type()), fmt::join(target.sizes(), "x")));
    at::Tensor(target).detach().copy_(found->second);
  }
  for (const auto& entry : content.tensors) {
    const std::string& name = entry.first;
    const auto is_its = [&](const Parameter& target) { return prefix + target.name == name; };
    if (name.starts_with(prefix) && std::ranges::none_of(targets, is_its))
      throw base::BadInput(fmt::format("{}: has a tensor {}, which the model does not", path.string(), name));
  }
}

/// All that are there, the newest first.
std::vector<fs::path> all_checkpoints(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.is_directory() && is_checkpoint_name(entry.path().filename().string())) found.push_back(entry.path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

}  // namespace

std::string model_bytes(const Model& model) {
  Safetensors content;
  for (const auto& [name, tensor] : model.parameters().all()) content.tensors[name] = tensor;
  return safetensors_bytes(content);
}

void load_model_file(const fs::path& file, Model& model) {
  fill(model.parameters().all(), read_safetensors(file), "", file);
}

void point_at(const fs::path& directory, const std::string& pointer, std::int64_t update) {
  base::write_file_whole(directory / pointer, name_of(update) + "\n");
}

void write_checkpoint(const fs::path& directory, const Model& model, const Adam& optimizer, const json& state) {
  const std::string name = name_of(optimizer.updates());
  const fs::path beside = directory / (name + ".tmp");
  fs::remove_all(beside);
  fs::create_directories(beside);
  json whole = state;
  whole["format"] = format_version;
  whole["update"] = optimizer.updates();
  const auto add = [&](const char* file, const std::string& bytes) {
    base::write_file_whole(beside / file, bytes);
    whole["digests"][file] = base::digest(bytes.data(), bytes.size());
  };
  add(model_file, model_bytes(model));
  add(optimizer_file, optimizer_bytes(model, optimizer));
  whole["digest"] = digest_of(whole);
  base::write_file_whole(beside / state_file, whole.dump(2) + "\n");
  fs::remove_all(directory / name);  // of a run that went on from an earlier update
  fs::rename(beside, directory / name);
  base::sync_to_disk(directory);
  point_at(directory, "latest", optimizer.updates());
}

void remove_old_checkpoints(const fs::path& directory, std::int64_t keep) {
  const std::vector<fs::path> found = all_checkpoints(directory);
  std::vector<fs::path> wanted;
  for (const char* pointer : {"latest", "best"})
    if (base::is_there(directory / pointer)) wanted.push_back(find_checkpoint(directory, pointer));
  for (std::size_t index = static_cast<std::size_t>(keep); index < found.size(); ++index)
    if (std::ranges::find(wanted, found[index]) == wanted.end()) fs::remove_all(found[index]);
}

fs::path find_checkpoint(const fs::path& directory, const std::string& which) {
  std::string name = which;
  if (which == "latest" || which == "best") {
    if (!base::is_there(directory / which))
      throw base::BadInput(fmt::format("{}: no checkpoint is called {} here", directory.string(), which));
    name = base::read_file(directory / which);
    name.erase(name.find_last_not_of(" \n\r\t") + 1);
  } else if (which.starts_with("update-")) {
    std::int64_t update = 0;
    const auto [end, error] = std::from_chars(which.data() + 7, which.data() + which.size(), update);
    if (error == std::errc{} && end == which.data() + which.size()) name = name_of(update);
  }
  std::error_code unusable;  // as where the name is longer than names can be
  if (!is_checkpoint_name(name) || !fs::is_directory(directory / name, unusable))
    throw base::BadInput(fmt::format("{}: no checkpoint {} here; give latest, best or update-N", directory.string(),
                                     name.empty() ? which : name));
  return directory / name;
}

std::vector<fs::path> newest_checkpoints(const fs::path& directory, std::int64_t count) {
  std::vector<fs::path> found = fs::is_directory(directory) ? all_checkpoints(directory) : std::vector<fs::path>();
  if (std::cmp_less(found.size(), count))
    throw base::BadInput(
        fmt::format("--average {}: {} has {} checkpoints; give at most that many, and train with --keep-checkpoints",
                    count, directory.string(), found.size()));
  found.resize(static_cast<std::size_t>(count));
  return found;
}

json read_state(const fs::path& checkpoint) {
  const fs::path path = checkpoint / state_file;
  auto state = base::parse_json(base::read_file(path));
  if (!state.is_object() || !state.contains("digest") || !state["digest"].is_string())
    throw base::BadInput(
        fmt::format("{}: altered or cut short since it was written; use another checkpoint", path.string()));
  const auto digest = state["digest"].get<std::string>();
  state.erase("digest");
  if (digest_of(state) != digest)
    throw base::BadInput(
        fmt::format("{}: altered since it was written (its digest differs); use another checkpoint", path.string()));
  const std::int64_t format = StateReader(state, checkpoint).whole("format", 0);
  if (format != format_version)
    throw base::BadInput(fmt::format("{}: written in checkpoint format {}, this program reads format {}", path.string(),
                                     format, format_version));
  return state;
}

void load_checkpoint(const fs::path& checkpoint, const Parameters& parameters, Adam* optimizer) {
  const json state = read_state(checkpoint);
  const std::int64_t update = StateReader(state, checkpoint).whole("update", 0);
  const json digests = state.value("digests", json());
  const auto read = [&](const char* file) {
    if (!digests.is_object() || !digests.contains(file) || !digests[file].is_string())
      throw base::BadInput(
          fmt::format("{}: has no digest of {}; use another checkpoint", (checkpoint / state_file).string(), file));
    return parse_safetensors(whole_file(checkpoint / file, digests[file].get<std::string>()),
                             (checkpoint / file).string());
  };
  const auto& all = parameters.all();
  fill(all, read(model_file), "", checkpoint / model_file);
  if (optimizer == nullptr) return;
  const Safetensors moments = read(optimizer_file);
  fill(views_of(optimizer->first_moment(), all), moments, "first_moment.", checkpoint / optimizer_file);
  fill(views_of(optimizer->second_moment(), all), moments, "second_moment.", checkpoint / optimizer_file);
  optimizer->restore(update);
}

void load_mean(const std::vector<fs::path>& checkpoints, Model& model) {
  if (checkpoints.size() == 1) return load_checkpoint(checkpoints.front(), model, nullptr);  // to the bit: -0 stays
  const at::NoGradGuard no_graph;
  const at::Tensor parameters = model.parameters().flat().detach();
  at::Tensor sum = at::zeros(parameters.sizes(), parameters.options().dtype(at::kDouble));
  for (const fs::path& checkpoint : checkpoints) {
    load_checkpoint(checkpoint, model, nullptr);
    sum += parameters;
  }
  parameters.copy_(sum / static_cast<double>(checkpoints.size()));
}

}  // namespace ut::core
