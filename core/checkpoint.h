#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/optimizer.h"

namespace ut::core {

/// The parameters, in a checkpoint or an exported model.
inline constexpr const char* model_file_name = "model.safetensors";

/// Writes `directory`/update-00001000 with model.safetensors, optimizer.safetensors and state.json: beside it, synced,
/// renamed, so that it is whole or absent at any kill. `state` is what the caller wants back; the files' digests are
/// put beside it. Then points `directory`/latest at it, and removes those of later updates, which a run that went on
/// from an earlier one has left. Called by one rank; no collective inside.
/// Throws std::runtime_error where that fails: until it is renamed, nothing of it stays; after that it is there, whole,
/// and `latest` may name the one before.
void write_checkpoint(const std::filesystem::path& directory, const Model& model, const Adam& optimizer,
                      const nlohmann::json& state);

/// Replaces what the caller wants back of a checkpoint that is there; at any kill it has the old or the new. Throws as
/// read_state(), or std::runtime_error where it cannot be written.
void replace_state(const std::filesystem::path& checkpoint, const nlohmann::json& state);

/// A checkpoint's state.json, its digest checked. Throws base::BadInput where it is missing, altered or cut short, and
/// names the newest earlier checkpoint that is whole.
nlohmann::json read_state(const std::filesystem::path& checkpoint);

/// The same of several, whose mean is wanted: of one of them that is damaged, the message says how to leave it out.
std::vector<nlohmann::json> read_states(const std::vector<std::filesystem::path>& checkpoints);

/// Whether a checkpoint is there and all of it is as it was written. Throws base::BadInput or
/// std::filesystem::filesystem_error where that cannot be known, since a file cannot be read.
bool is_whole(const std::filesystem::path& checkpoint);

/// Fills a model's parameters, and the optimizer's moments unless it is null. Throws base::BadInput, naming the file,
/// where one is altered or cut short (and an earlier checkpoint that is whole), or where names or shapes are not the
/// model's.
void load_checkpoint(const std::filesystem::path& checkpoint, const Parameters& parameters, Adam* optimizer);

/// Fills the model with the mean of what it has in these checkpoints, summed in float64. Throws as load_checkpoint().
void load_mean(const std::vector<std::filesystem::path>& checkpoints, Model& model);

/// The bytes of a safetensors file of the model's parameters, under their names.
std::string model_bytes(const Model& model);
/// Fills the model's parameters from such a file. Throws base::BadInput, naming file and tensor, where one is missing,
/// one too many, of another shape or type, or has values that are not finite.
void load_model_file(const std::filesystem::path& file, Model& model);

}  // namespace ut::core
