#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/optimizer.h"

namespace ut::core {

/// The file with the parameters, in a checkpoint or an exported model.
inline constexpr const char* model_file_name = "model.safetensors";

/// Writes `directory`/update-00001000 (for update 1000) with model.safetensors, optimizer.safetensors and state.json.
/// It is written under another name, synced and renamed, so that it is whole or absent whenever the process is killed.
/// `state` is what read_state() will return; the files' digests are added to it. Then points `directory`/latest at the
/// checkpoint and removes checkpoints of later updates, left over by a run that was resumed from an earlier one. Not
/// collective: one rank calls it.
///
/// Throws std::runtime_error if it fails. Before the rename nothing of the checkpoint stays; after it the checkpoint is
/// there and whole, but `latest` may still name the one before.
void write_checkpoint(const std::filesystem::path& directory, const Model& model, const Adam& optimizer,
                      const nlohmann::json& state);

/// Replaces the state of an existing checkpoint; if the process is killed, it has the old state or the new one. Throws
/// like read_state(), and std::runtime_error if the state cannot be written.
void replace_state(const std::filesystem::path& checkpoint, const nlohmann::json& state);

/// Reads a checkpoint's state.json and checks its digest. Throws base::BadInput if it is in another format, or if it is
/// missing, altered or cut short; the message then names a whole checkpoint to take instead: the newest earlier one,
/// else the newest.
nlohmann::json read_state(const std::filesystem::path& checkpoint);

/// The same for several checkpoints whose mean is wanted; if one is damaged, the message says how to leave it out.
std::vector<nlohmann::json> read_states(const std::vector<std::filesystem::path>& checkpoints);

/// Whether a checkpoint is there and all its files are as they were written. Throws base::BadInput or
/// std::filesystem::filesystem_error if a file cannot be read.
bool is_whole(const std::filesystem::path& checkpoint);

/// Fills a model's parameters and, unless `optimizer` is null, its moments and number of updates. Throws
/// base::BadInput, naming the file, if one is altered or cut short (then the message also names a whole checkpoint,
/// like that of read_state()), or if names, shapes or types are not the model's.
void load_checkpoint(const std::filesystem::path& checkpoint, const Parameters& parameters, Adam* optimizer);

/// Fills the model with the mean of its parameters in these checkpoints, summed in float64. Throws like
/// load_checkpoint().
void load_mean(const std::vector<std::filesystem::path>& checkpoints, Model& model);

/// The bytes of a safetensors file of the model's parameters, under their names.
std::string model_bytes(const Model& model);
/// Fills the model's parameters from such a file. Throws base::BadInput, naming file and tensor, if a tensor is
/// missing, superfluous, of another shape or type, or has values that are not finite.
void load_model_file(const std::filesystem::path& file, Model& model);

}  // namespace ut::core
