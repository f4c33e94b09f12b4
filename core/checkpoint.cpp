#include "core/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "core/checkpoint_directory.h"
#include "core/safetensors.h"
#include "core/state_reader.h"

namespace ut::core {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* state_file = "state.json";
constexpr int format_version = 1;

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

/// Copies the tensors whose names begin with `prefix` into `targets`. Throws base::BadInput unless names, shapes and
/// types are the same.
void fill(const std::vector<Parameter>& targets, const Safetensors& content, const std::string& prefix,
          const fs::path& path) {
  const at::NoGradGuard no_graph;
  for (const auto& [name, target] : targets) {
    const auto found = content.tensors.find(prefix + name);
    if (found == content.tensors.end())
      throw base::BadInput("{}: has no tensor {}{}, which the model needs", path.string(), prefix, name);
    if (found->second.sizes() != target.sizes() || found->second.scalar_type() != target.scalar_type())
      throw base::BadInput("{}: tensor {}{} is {} {}, the model needs {} {}", path.string(), prefix, name,
                           toString(found->second.scalar_type()), fmt::join(found->second.sizes(), "x"),
                           toString(target.scalar_type()), fmt::join(target.sizes(), "x"));
    at::Tensor(target).detach().copy_(found->second);
  }
  for (const auto& entry : content.tensors) {
    const std::string& name = entry.first;
    const auto is_its = [&](const Parameter& target) { return prefix + target.name == name; };
    if (name.starts_with(prefix) && std::ranges::none_of(targets, is_its))
      throw base::BadInput("{}: has a tensor {}, which the model does not", path.string(), name);
  }
}

void write_state(const fs::path& checkpoint, json whole) {
  whole["digest"] = digest_of(whole);
  base::write_file_whole(checkpoint / state_file, whole.dump(2) + "\n");
}

/// Writes the files of a checkpoint into `directory`, which it creates.
void write_files(const fs::path& directory, const Model& model, const Adam& optimizer, const json& state) {
  if (!fs::is_directory(directory.parent_path()))
    throw std::runtime_error(fmt::format("{}: is not there any more", directory.parent_path().string()));
  fs::create_directory(directory);
  json whole = state;
  whole["format"] = format_version;
  whole["update"] = optimizer.updates();
  const auto add = [&](const char* file, const std::string& bytes) {
    base::write_file_whole(directory / file, bytes);
    whole["digests"][file] = base::digest(bytes.data(), bytes.size());
  };
  add(model_file_name, model_bytes(model));
  add(optimizer_file, optimizer_bytes(model, optimizer));
  write_state(directory, std::move(whole));
}

/// Thrown for files that are not as they were written.
class Damaged : public base::BadInput {
 public:
  using base::BadInput::BadInput;
};

std::string read_checkpoint_file(const fs::path& path) {
  if (!fs::is_regular_file(path))
    throw Damaged(fmt::format("{}: {}", path.string(), fs::exists(path) ? "is no file" : "is not there any more"));
  return base::read_file(path);
}

std::string read_verified_file(const fs::path& path, const std::string& digest) {
  std::string bytes = read_checkpoint_file(path);
  if (base::digest(bytes.data(), bytes.size()) != digest)
    throw Damaged(fmt::format("{}: altered or cut short since it was written (its digest differs)", path.string()));
  return bytes;
}

json state_of(const fs::path& checkpoint) {
  const fs::path path = checkpoint / state_file;
  json state = base::parse_json(read_checkpoint_file(path));
  if (!state.is_object() || !state.contains("digest") || !state["digest"].is_string())
    throw Damaged(fmt::format("{}: altered or cut short since it was written", path.string()));
  const auto digest = state["digest"].get<std::string>();
  state.erase("digest");
  if (digest_of(state) != digest)
    throw Damaged(fmt::format("{}: altered since it was written (its digest differs)", path.string()));
  const std::int64_t format = StateReader(state, checkpoint).whole("format", 0);
  if (format != format_version)
    throw base::BadInput("{}: written in checkpoint format {}, this program reads format {}", path.string(), format,
                         format_version);
  return state;
}

/// The digest of one of the checkpoint's files, according to its state.
std::string digest_in(const json& digests, const char* file, const fs::path& checkpoint) {
  if (!digests.is_object() || !digests.contains(file) || !digests[file].is_string())
    throw Damaged(fmt::format("{}: has no digest of {}", (checkpoint / state_file).string(), file));
  return digests[file].get<std::string>();
}

/// What to do about a damaged checkpoint: take the newest whole one before it, or else the newest whole one.
std::string advice(const fs::path& checkpoint) {
  const auto can_be_taken = [](const fs::path& other) {
    try {
      return is_whole(other);
    } catch (const std::exception&) {  // that one cannot be read either
      return false;
    }
  };
  for (const bool earlier : {true, false})
    for (const fs::path& other : all_checkpoints(checkpoint.parent_path()))
      if (is_earlier(other, checkpoint) == earlier && can_be_taken(other))
        return fmt::format("{} is whole, take it with --checkpoint {}", other.filename().string(),
                           other.filename().string());
  return "no checkpoint is whole";
}

/// Calls `read`, which reads from these checkpoints. If one is damaged, the message says what to do.
template <class Read>
auto with_advice(const std::vector<fs::path>& checkpoints, const Read& read) {
  try {
    return read();
  } catch (const Damaged& damage) {
    const std::string then = checkpoints.size() == 1
                                 ? advice(checkpoints.front())
                                 : "give a smaller --average, or a whole checkpoint with --checkpoint update-N";
    throw base::BadInput("{}; {}", damage.what(), then);
  }
}

/// Throws Damaged if a file is not whole.
void load(const fs::path& checkpoint, const Parameters& parameters, Adam* optimizer) {
  const json state = state_of(checkpoint);
  const std::int64_t update = StateReader(state, checkpoint).whole("update", 0);
  const json digests = state.value("digests", json());
  const auto read = [&](const char* file) {
    const fs::path path = checkpoint / file;
    const std::string digest = digest_in(digests, file, checkpoint);
    return parse_safetensors(read_verified_file(path, digest), path.string());
  };
  const auto& all = parameters.all();
  fill(all, read(model_file_name), "", checkpoint / model_file_name);
  if (optimizer == nullptr) return;
  const Safetensors moments = read(optimizer_file);
  fill(views_of(optimizer->first_moment(), all), moments, "first_moment.", checkpoint / optimizer_file);
  fill(views_of(optimizer->second_moment(), all), moments, "second_moment.", checkpoint / optimizer_file);
  optimizer->restore(update);
}

}  // namespace

bool is_whole(const fs::path& checkpoint) {
  try {
    const json digests = state_of(checkpoint).value("digests", json());
    for (const char* file : {model_file_name, optimizer_file})
      read_verified_file(checkpoint / file, digest_in(digests, file, checkpoint));
    return true;
  } catch (const Damaged&) {
    return false;
  }
}

std::string model_bytes(const Model& model) {
  Safetensors content;
  for (const auto& [name, tensor] : model.parameters().all()) content.tensors[name] = tensor;
  return safetensors_bytes(content);
}

void load_model_file(const fs::path& file, Model& model) {
  fill(model.parameters().all(), read_safetensors(file), "", file);
  for (const auto& [name, tensor] : model.parameters().all())
    if (!tensor.isfinite().all().item<bool>())
      throw base::BadInput("{}: tensor {} has values that are not finite", file.string(), name);
}

void write_checkpoint(const fs::path& directory, const Model& model, const Adam& optimizer, const json& state) {
  const fs::path checkpoint = directory / checkpoint_name(optimizer.updates());
  fs::path beside = checkpoint;
  beside += unfinished;
  fs::remove_all(beside);
  try {
    write_files(beside, model, optimizer, state);
    if (fs::exists(checkpoint)) remove_checkpoint(checkpoint);
    fs::rename(beside, checkpoint);
  } catch (...) {
    std::error_code ignored;  // the error that is rethrown matters more
    fs::remove_all(beside, ignored);
    throw;
  }
  base::sync_to_disk(directory);
  point_at(directory, "latest", optimizer.updates());
  for (const fs::path& later : all_checkpoints(directory))
    if (update_of(later.filename().string()) > optimizer.updates()) remove_checkpoint(later);
}

void replace_state(const fs::path& checkpoint, const json& state) {
  const json before = read_state(checkpoint);
  json whole = state;
  for (const char* kept : {"format", "update", "digests"}) whole[kept] = before.at(kept);
  write_state(checkpoint, std::move(whole));
}

json read_state(const fs::path& checkpoint) { return read_states({checkpoint}).front(); }

std::vector<json> read_states(const std::vector<fs::path>& checkpoints) {
  return with_advice(checkpoints, [&] {
    std::vector<json> states;
    for (const fs::path& checkpoint : checkpoints) states.push_back(state_of(checkpoint));
    return states;
  });
}

void load_checkpoint(const fs::path& checkpoint, const Parameters& parameters, Adam* optimizer) {
  with_advice({checkpoint}, [&] { load(checkpoint, parameters, optimizer); });
}

void load_mean(const std::vector<fs::path>& checkpoints, Model& model) {
  if (checkpoints.size() == 1)
    return load_checkpoint(checkpoints.front(), model.parameters(), nullptr);  // to the bit: a sum turns -0 into 0
  const at::NoGradGuard no_graph;
  const at::Tensor parameters = model.parameters().flat().detach();
  at::Tensor sum = at::zeros(parameters.sizes(), parameters.options().dtype(at::kDouble));
  with_advice(checkpoints, [&] {
    for (const fs::path& checkpoint : checkpoints) {
      load(checkpoint, model.parameters(), nullptr);
      sum += parameters;
    }
  });
  parameters.copy_(sum / static_cast<double>(checkpoints.size()));
}

}  // namespace ut::core
