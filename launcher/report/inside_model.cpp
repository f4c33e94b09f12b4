#include "launcher/report/inside_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/error.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/universal_transformer.h"
#include "core/watched_rows.h"
#include "datasets/make_task.h"
#include "launcher/options/model_options.h"
#include "launcher/run/example_text.h"
#include "launcher/run/rank_batch.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t examples_looked_at = 10000;  // to find some that are short enough

std::vector<std::int64_t> numbers(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.to(at::kLong).contiguous();
  return {whole.const_data_ptr<std::int64_t>(), whole.const_data_ptr<std::int64_t>() + whole.numel()};
}

/// [heads, queries, keys] in 1/10000.
ordered_json in_ten_thousandths(const at::Tensor& weights) {
  ordered_json heads = ordered_json::array();
  for (const at::Tensor& head : (weights * 10000).round().unbind(0)) {
    ordered_json queries = ordered_json::array();
    for (const at::Tensor& query : head.unbind(0)) queries.push_back(numbers(query));
    heads.push_back(std::move(queries));
  }
  return heads;
}

ordered_json steps_of_rows(const core::StackOutput& output, core::Halting halting, std::int64_t most) {
  ordered_json stack{{"halting", halting != core::Halting::none}, {"most", most}, {"updates", numbers(output.updates)}};
  if (!output.cost.defined()) return stack;
  const at::Tensor cost = output.cost.contiguous();
  stack["ponder"] = std::vector<double>(cost.const_data_ptr<double>(), cost.const_data_ptr<double>() + cost.numel());
  return stack;
}

/// A loaded model with all that is needed to show it at work.
class ModelAtWork {
 public:
  explicit ModelAtWork(const Options& run)
      : run_(run),
        task_(datasets::make_task(run.task)),
        loaded_(load_model(run, *task_, chosen_checkpoints(run))),
        model_(dynamic_cast<const core::UniversalTransformer&>(*loaded_)),
        mesh_(dist::make_single_communicator(), 1) {}

  const datasets::Task& task() const { return *task_; }

  /// Null if the outputs are not finite.
  ordered_json example(std::int64_t number) {
    const datasets::Example example = task_->example(run_.split, number);
    const RankBatch batch = rank_batch(std::span(&example, 1), 0, mesh_, run_.exchange);
    const at::Tensor logits = model_.forward(batch.rows, steps_of(run_), {}).logits;
    if (!logits.isfinite().all().item<bool>()) return nullptr;
    ordered_json shown{{"number", number}, {"source", source_texts(example, *task_)}};
    maps_ = ordered_json::object();
    std::optional<core::Memory> memory;
    if (batch.rows.source) memory = encode(batch.rows, shown);
    if (batch.rows.target) {
      decode(batch.rows, memory ? &*memory : nullptr, shown);
      shown["given"] = symbols_of(numbers(batch.rows.target_previous), *task_, "<start>");
    }
    shown["maps"] = std::move(maps_);
    shown["wanted"] = labels(numbers(batch.rows.labels), example);
    shown["said"] = labels(numbers(logits.argmax(1)), example);
    return shown;
  }

 private:
  std::shared_ptr<core::StackRows> watch(const core::Recurrence& stack, const std::string& name,
                                         const dist::SequenceExchange& exchange, const core::Memory* memory) {
    return core::watch_attention(
        stack.make_rows(exchange, memory), exchange.all(), name == "decoder",
        memory == nullptr ? nullptr : &memory->rows, [this, name](const core::SeenAttention& seen) {
          maps_[seen.over_memory ? "source" : name].push_back({{"step", seen.step},
                                                               {"layer", seen.layer},
                                                               {"queries", numbers(seen.queries.position)},
                                                               {"weights", in_ten_thousandths(seen.weights)}});
        });
  }

  /// What the decoder sees of the source; empty if there is no decoder.
  std::optional<core::Memory> encode(const core::Batch& batch, ordered_json& shown) {
    const std::int64_t most = steps_of(run_).encoder;
    const auto rows = watch(model_.encoder(), "encoder", *batch.source, nullptr);
    const core::StackOutput output =
        model_.encoder().forward(model_.embed_source(batch), batch.source_position, most, *rows, nullptr, {});
    shown["stacks"]["encoder"] = steps_of_rows(output, model_.encoder().halting(), most);
    if (!batch.target) return std::nullopt;
    return model_.decoder().block().remember(output.state, *batch.source);
  }

  void decode(const core::Batch& batch, const core::Memory* memory, ordered_json& shown) {
    const std::int64_t most = steps_of(run_).decoder;
    const auto rows = watch(model_.decoder(), "decoder", *batch.target, memory);
    const core::StackOutput output =
        model_.decoder().forward(model_.embed_target(batch), batch.target_position, most, *rows, memory, {});
    shown["stacks"]["decoder"] = steps_of_rows(output, model_.decoder().halting(), most);
  }

  /// Labels as text, one a row; empty for rows that nothing is asked of.
  std::vector<std::string> labels(const std::vector<std::int64_t>& ids, const datasets::Example& example) const {
    std::vector<std::string> text(example.target.empty() ? 0 : static_cast<std::size_t>(example.first_label));
    std::ranges::move(label_texts(ids, example, *task_), std::back_inserter(text));
    return text;
  }

  const Options& run_;
  std::unique_ptr<datasets::Task> task_;
  std::unique_ptr<core::Model> loaded_;
  const core::UniversalTransformer& model_;
  dist::Mesh mesh_;
  ordered_json maps_;
};

}  // namespace

ordered_json look_inside(const Options& run, const ReportOptions& report) {
  const at::NoGradGuard no_graph;
  Options used = run;
  used.checkpoint = chosen_checkpoint(run).filename().string();
  ModelAtWork model(used);
  const datasets::Task& task = model.task();
  ordered_json shown{{"checkpoint", used.checkpoint}, {"examples", ordered_json::array()}};
  if (report.first_example >= task.size(run.split))
    throw base::BadInput("--first-example {}: the split has {} examples, numbered from 0", report.first_example,
                         task.size(run.split));
  const std::int64_t end = std::min(task.size(run.split), report.first_example + examples_looked_at);
  const auto most = static_cast<std::size_t>(report.example_rows);
  for (auto number = report.first_example; number < end && std::ssize(shown["examples"]) < report.examples; ++number)
    if (const auto example = task.example(run.split, number);
        example.source.size() <= most && example.target.size() <= most) {
      shown["examples"].push_back(model.example(number));
      if (shown["examples"].back().is_null()) return nullptr;
    }
  if (shown["examples"].empty())
    throw base::BadInput(
        "none of the {} examples from number {} on has at most {} positions; give another --example-rows, "
        "--first-example or --split",
        end - report.first_example, report.first_example, report.example_rows);
  return shown;
}

}  // namespace ut::launcher
