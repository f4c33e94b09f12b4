#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/model.h"
#include "datasets/task.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// The checkpoint of `--run-dir` that `--checkpoint` names; the newest if the best is asked for and there is none yet.
/// Throws base::BadInput if there is no such checkpoint.
std::filesystem::path chosen_checkpoint(const Options& options);

/// The checkpoints that evaluate, decode and export work with: the chosen one, or the newest `--average`, the newest
/// first. Throws base::BadInput if there are none, or fewer.
std::vector<std::filesystem::path> chosen_checkpoints(const Options& options);

/// The trained model with the mean of the checkpoints' parameters. Throws base::BadInput if a checkpoint is not whole,
/// its vocabulary is not the task's, or it has fewer learned step signals than steps are asked for.
std::unique_ptr<core::Model> load_model(const Options& options, const datasets::Task& task,
                                        const std::vector<std::filesystem::path>& checkpoints,
                                        at::Device device = at::kCPU);

/// Throws base::BadInput unless `recorded_digest`, which `checkpoint` has, is that of the task's vocabulary.
void check_vocabulary(const std::string& checkpoint, const std::string& recorded_digest, const datasets::Task& task);

/// To be called before memory is taken for a model. Throws base::BadInput if the options make the model far larger than
/// the file, or if there is no such file.
void check_size(const core::ModelOptions& model, const std::filesystem::path& file);

}  // namespace ut::launcher
