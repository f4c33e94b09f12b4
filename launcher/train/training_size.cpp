#include "launcher/train/training_size.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "datasets/algorithmic.h"
#include "launcher/cost/cost_model.h"
#include "launcher/run/input.h"

namespace ut::launcher {
namespace {

constexpr std::int64_t most_updates = 32;
constexpr double most_rows = 200'000;

/// How many positions at the end of the longest inputs that are scored have none in training.
std::int64_t untrained_positions(const Session& session) {
  const Options& options = session.options;
  const bool has_lengths = dynamic_cast<const datasets::Algorithmic*>(session.task.get()) != nullptr;
  if (!has_lengths || options.model.kind == core::ModelKind::lstm) return 0;
  return options.task.evaluation_length - options.task.train_length - options.random_offset;
}

}  // namespace

TrainingSize::TrainingSize(const core::Model& model, const Session& session)
    : session_(session),
      parameters_(model.parameters().elements()),
      table_parameters_(table_parameters(model.options())),
      threads_(at::get_num_threads()) {
  const Options& options = session.options;
  datasets::TrainingBatches batches(*session.task, batch_options(options), options.seed);
  for (; updates_ < std::min(most_updates, options.max_updates) && rows_ < most_rows; ++updates_) {
    const datasets::Batch batch = batches.next();
    const FlopsRange flops = flops_of_update(model.options(), batch);
    rows_ += static_cast<double>(batch.rows());
    examples_ += static_cast<double>(batch.examples.size()) / static_cast<double>(batch.parts.size());
    flops_ = {flops_.least + flops.least, flops_.most + flops.most, flops_.encoder_step + flops.encoder_step,
              flops_.decoder_step + flops.decoder_step};
  }
  const auto count = static_cast<double>(updates_);
  rows_ /= count;
  examples_ /= count;
  flops_ = {flops_.least / count, flops_.most / count, flops_.encoder_step / count, flops_.decoder_step / count};
}

std::vector<std::string> TrainingSize::describe() const {
  const dist::Mesh& mesh = session_.mesh;
  const Options& options = session_.options;
  const int ranks = mesh.world().size();
  std::vector<std::string> lines;
  lines.push_back(session_.task->description());
  lines.push_back(fmt::format(
      "{} parameters ({} of them in the table of symbols), {} (data-parallel {}, sequence-parallel {}), {}{}",
      parameters_, table_parameters_, base::counted(ranks, "rank"), mesh.data_parallel(), mesh.sequence_parallel(),
      base::counted(threads_, "thread"), ranks > 1 ? " each" : ""));
  lines.push_back(fmt::format("{} in the matrix products of an update of {:.0f} rows (means of the first {} updates)",
                              launcher::describe(flops_), rows_, updates_));
  const bool by_rows = options.batch_rows > 0;
  const auto examples = by_rows ? static_cast<std::int64_t>(std::ceil(examples_)) : options.batch;
  if (const auto idle = mesh.data_parallel() - examples; idle > 0)
    lines.push_back(fmt::format("--batch{} {} leaves {} of {} ranks without work", by_rows ? "-rows" : "",
                                by_rows ? options.batch_rows : options.batch, idle * mesh.sequence_parallel(), ranks));
  if (const std::int64_t untrained = untrained_positions(session_); untrained > 0)
    lines.push_back(
        fmt::format("the last {} positions of the longest inputs that are scored are never learned; "
                    "--random-offset {} learns all",
                    untrained, options.random_offset + untrained));
  return lines;
}

nlohmann::ordered_json TrainingSize::to_json() const {
  return {{"parameters", parameters_},
          {"table_parameters", table_parameters_},
          {"threads", threads_},
          {"rows", rows_},
          {"flops_per_update", {flops_.least, flops_.most}},
          {"flops_per_step", {{"encoder", flops_.encoder_step}, {"decoder", flops_.decoder_step}}}};
}

}  // namespace ut::launcher
