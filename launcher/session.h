#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/decoding.h"
#include "datasets/task.h"
#include "dist/mesh.h"
#include "launcher/options.h"

namespace ut::launcher {

/// What a command works with on one rank.
struct Session {
  const Options& options;
  dist::Mesh& mesh;
  std::unique_ptr<datasets::Task> task;  // none where a command works on no data set
  std::atomic<std::int64_t>& update;     // being worked on, for messages about failures; -1: none yet

  /// Rank 0 speaks; the others only of errors.
  bool speaks() const { return mesh.world().rank() == 0; }
};

/// The model's shape as the options give it. What a task has to say of it is left as it is there.
core::ModelOptions model_options(const Options& options);
/// As options and task together give it.
core::ModelOptions model_options(const Options& options, const datasets::Task& task);

/// As `ut bench` and `ut plan` have it, which work on no task.
core::ModelOptions bench_model(const Options& options);

/// The steps that the options ask for, of halting stacks the most; they may differ from those the model was trained
/// with.
core::Steps steps_of(const Options& options);

/// As evaluate and decode are to make outputs of these examples.
core::DecodingOptions decoding_options(const Options& options, const datasets::Task& task,
                                       std::span<const datasets::Example> examples);

/// The checkpoints that evaluate, decode and export work with: `--checkpoint` of `--run-dir`, or the newest
/// `--average`, the newest first. Throws base::BadInput where there are none, or fewer.
std::vector<std::filesystem::path> chosen_checkpoints(const Options& options);

/// The trained model that the mean of the checkpoints' parameters makes. Throws base::BadInput where one of them is not
/// whole, its vocabulary is not the task's, or it has fewer learned step signals than steps are asked for.
std::unique_ptr<core::Model> load_model(const Options& options, const datasets::Task& task,
                                        const std::vector<std::filesystem::path>& checkpoints,
                                        at::Device device = at::kCPU);

/// Throws base::BadInput unless `state` (of `checkpoint`) was made with the task's vocabulary.
void check_vocabulary(const std::string& checkpoint, const std::string& recorded_digest, const datasets::Task& task);

}  // namespace ut::launcher
