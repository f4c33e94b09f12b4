#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "datasets/lines.h"
#include "datasets/vocabulary.h"
#include "datasets/words.h"
#include "launcher/commands.h"
#include "launcher/options/model_options.h"
#include "launcher/process/say.h"
#include "launcher/process/standard_input.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/agreed_checkpoints.h"
#include "launcher/ranks/shared_values.h"
#include "launcher/run/rank_batch.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {
namespace {

/// The most symbols that a line may have. Attention over more would take days; a longer line is a file given by
/// mistake.
constexpr std::size_t longest_line = 1'000'000;

datasets::Example parse_line(const std::string& line, const datasets::Task& task) {
  datasets::Example example = task.parse(line);
  const std::size_t symbols = example.source.size() + example.target.size();
  if (symbols > longest_line) throw base::BadInput("{} symbols, needs at most {} in a line", symbols, longest_line);
  return example;
}

void check_line(const std::string& line, std::size_t number, const datasets::Task& task) {
  try {
    parse_line(line, task);
  } catch (const base::BadInput& error) {
    throw base::BadInput("standard input, line {}: {}", number, error.what());
  }
}

/// All lines of standard input on rank 0, none on other ranks. All ranks throw AgreedBadInput if the task cannot read a
/// line. Collective.
std::vector<std::string> typed_lines(const Session& session) {
  std::vector<std::string> lines;
  // A person may be typing: this may take longer than the ranks otherwise wait.
  run_on_first_or_refuse(session.mesh.world(), [&] {
    lines = datasets::raw_lines(read_standard_input());
    std::size_t number = 0;
    for (const std::string& line : lines) check_line(line, ++number, *session.task);
  });
  return lines;
}

using core::Likeliest;

/// For each example of this data group whose labels this rank holds: its answer, the word that follows it, or the
/// source row that is pointed at. The other examples get an empty output.
Likeliest read_answers(const core::Model& model, const RankBatch& batch, const core::Steps& steps) {
  const at::NoGradGuard no_graph;
  const at::Tensor logits = model.forward(batch.rows, steps, {}).logits;
  const at::Tensor likeliest = logits.argmax(1, /*keepdim=*/true);
  const at::Tensor answers = likeliest.cpu();
  const at::Tensor log_probabilities = at::log_softmax(logits, 1).gather(1, likeliest).cpu();
  Likeliest found{core::Outputs(batch.sources.ids.size()), std::vector<double>(batch.sources.ids.size())};
  std::int64_t read = 0;
  for (const std::int64_t sequence : batch.sequences_of_labels()) {
    const auto place = static_cast<std::size_t>(sequence);
    const auto& example = batch.examples[place];
    const std::int64_t answer = answers[read].item<std::int64_t>();
    found.outputs[place] = {example.candidates.empty() ? answer : pointed_row(example, answer)};
    found.log_probabilities[place] = log_probabilities[read++].item<double>();
  }
  return found;
}

/// Decodes the examples on all ranks. `first`: how many examples came before these. Collective.
Likeliest decode_batch(const Session& session, const core::Model& model, std::span<const datasets::Example> examples,
                       std::int64_t first) {
  const core::Steps steps = steps_of(session.options);
  const RankBatch batch = rank_batch(examples, first, session.mesh, session.options.exchange);
  const auto gather = [&](const Likeliest& found, std::int64_t longest) {
    return core::gather_likeliest(found, static_cast<std::int64_t>(batch.first_example), examples.size(), longest,
                                  session.mesh.world());
  };
  const bool says_one_word = !session.task->has_source() && session.options.decode_extra < 0;
  if (!session.task->has_target() || says_one_word) return gather(read_answers(model, batch, steps), 1);
  core::DecodingOptions how = decoding_options(session.options, *session.task, batch.examples);
  how.with_probabilities = session.options.json;
  const std::int64_t longest = std::ranges::max(decoding_options(session.options, *session.task, examples).limits);
  const Likeliest found = core::decode(model, batch.rows, batch.sources, steps, how, session.mesh.sequence()).found;
  return gather(session.mesh.sequence_rank() == 0 ? found : Likeliest(), longest);  // all ranks of a sequence have it
}

/// An output as text. For a pointed-at row, that row's word in the line, because the vocabulary may lack it.
std::string text_of(const std::vector<std::int64_t>& output, const std::string& line, const datasets::Task& task) {
  if (!task.points()) return task.render(output);
  const std::vector<std::string_view> words = datasets::split_at_spaces(line);
  return std::string(words.at(words.size() - static_cast<std::size_t>(output.front())));
}

/// A line and its output as a JSON object. `log_probability` is null for a line that was not decoded.
std::string json_line(const std::string& line, const std::string& output, const double* log_probability) {
  nlohmann::ordered_json object{{"input", line}, {"output", output}};
  if (log_probability != nullptr) object["log_probability"] = *log_probability;
  return base::json_line(object);
}

/// Rank 0's lines on every rank. Collective.
std::vector<std::string> lines_of_first(std::span<const std::string> lines, const Session& session) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  std::vector<std::string> of_first;
  datasets::cut_at_line_feeds(text_of_rank(text, 0, session.mesh.world()),
                              [&](std::size_t, std::string_view line) { of_first.emplace_back(line); });
  return of_first;
}

/// Prints the lines' outputs. `first`: how many lines were decoded before these, without those that have no source,
/// whose output is empty. Returns how many of these were decoded. Collective.
std::int64_t decode_lines(const Session& session, const core::Model& model, std::span<const std::string> lines,
                          std::int64_t first) {
  std::vector<datasets::Example> asked;
  std::vector<bool> is_asked;
  for (const std::string& line : lines) {
    datasets::Example example = parse_line(line, *session.task);
    is_asked.push_back(!example.source.empty() || !session.task->has_source());
    if (is_asked.back()) asked.push_back(std::move(example));
  }
  const Likeliest found = asked.empty() ? Likeliest() : decode_batch(session, model, asked, first);
  if (!session.speaks()) return std::ssize(asked);
  std::size_t next = 0;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const bool is_made = is_asked[line];
    const std::string text = is_made ? text_of(found.outputs[next], lines[line], *session.task) : "";
    const double* likely = is_made ? &found.log_probabilities[next++] : nullptr;
    print((session.options.json ? json_line(lines[line], text, likely) : text) + "\n");
  }
  std::fflush(stdout);  // so that a pipe's reader gets them now
  return std::ssize(asked);
}

/// Decodes all lines of standard input, `--evaluation-batch` at a time. Collective.
void decode_in_batches(const Session& session, const core::Model& model) {
  const std::vector<std::string> all = typed_lines(session);
  std::span<const std::string> rest = all;
  for (std::int64_t done = 0;;) {
    const auto next = rest.first(std::min(static_cast<std::size_t>(session.options.evaluation_batch), rest.size()));
    rest = rest.subspan(next.size());
    const std::vector<std::string> lines = lines_of_first(next, session);
    if (lines.empty()) return;
    done += decode_lines(session, model, lines, done);
  }
}

/// Decodes each line of standard input before it waits for the next one. Collective.
void decode_line_by_line(const Session& session, const core::Model& model) {
  StandardInputLines input;
  std::size_t number = 0;
  for (std::int64_t done = 0;;) {
    std::vector<std::string> next;
    run_on_first_or_refuse(session.mesh.world(), [&] {
      const std::optional<std::string> line = input.next();
      if (!line) return;
      check_line(*line, ++number, *session.task);
      next.push_back(*line);
    });
    const std::vector<std::string> lines = lines_of_first(next, session);
    if (lines.empty()) return;
    done += decode_lines(session, model, lines, done);
  }
}

}  // namespace

int decode(Session& session) {
  std::unique_ptr<core::Model> model;
  const auto checkpoints = agreed_checkpoints(session.options, session.mesh.world());
  agree(session.mesh.world(),
        [&] { model = load_model(session.options, *session.task, checkpoints, session.mesh.device()); });
  (session.options.line_by_line ? decode_line_by_line : decode_in_batches)(session, *model);
  return 0;
}

}  // namespace ut::launcher
