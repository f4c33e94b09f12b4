#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "datasets/vocabulary.h"
#include "datasets/words.h"
#include "launcher/commands.h"
#include "launcher/options/model_options.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/agreed_checkpoints.h"
#include "launcher/ranks/shared_text.h"
#include "launcher/run/rank_batch.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {
namespace {

/// Adds what standard input has within half a second or so. Returns whether that was all; `failure`: the error that
/// ended it.
bool read_a_while(std::string& typed, int& failure) {
  constexpr int milliseconds = 500;
  std::array<char, 1 << 16> bytes{};
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, milliseconds) <= 0) return false;
  const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count > 0) typed.append(bytes.data(), static_cast<std::size_t>(count));
  if (count < 0 && errno != EINTR && errno != EAGAIN) failure = errno;
  return count == 0 || failure != 0;
}

/// All of standard input, which rank 0 reads, on every rank. The others do not wait for it silently: who writes it may
/// take longer than ranks wait for one another. Throws AgreedBadInput where it cannot be read to its end. Collective.
std::string typed_text(const Session& session) {
  dist::Communicator& world = session.mesh.world();
  std::string typed;
  int failure = 0;
  for (bool ended = false; !ended;) {
    const at::Tensor ends = at::zeros({1}, at::kLong);
    if (session.speaks() && read_a_while(typed, failure)) ends.fill_(1);
    world.all_reduce_sum(ends, dist::Purpose::control);
    ended = ends.item<std::int64_t>() > 0;
  }
  agree(world, [&] {
    if (failure != 0) throw base::BadInput(fmt::format("standard input: cannot be read: {}", std::strerror(failure)));
  });
  return text_of_rank(typed, 0, world);
}

/// Symbols of a line. Of more, attention would take days: it is no question but a file given by mistake.
constexpr std::size_t longest_line = 1'000'000;

std::vector<datasets::Example> parse_lines(const std::vector<std::string>& lines, const datasets::Task& task) {
  std::vector<datasets::Example> examples;
  for (const std::string& line : lines) {
    try {
      datasets::Example example = task.parse(line);
      const std::size_t symbols = example.source.size() + example.target.size();
      if (symbols > longest_line)
        throw base::BadInput(fmt::format("{} symbols, needs at most {} in a line", symbols, longest_line));
      examples.push_back(std::move(example));
    } catch (const base::BadInput& error) {
      throw base::BadInput(fmt::format("standard input, line {}: {}", examples.size() + 1, error.what()));
    }
  }
  return examples;
}

using core::Outputs;

/// The answers to this data group's examples that this rank reads, or the words that come after them, or the source's
/// rows that are pointed at; an empty output for the others.
Outputs read_answers(const core::Model& model, const RankBatch& batch, const core::Steps& steps) {
  const at::NoGradGuard no_graph;
  const at::Tensor answers = model.forward(batch.rows, steps, {}).logits.argmax(1).cpu();
  Outputs outputs(batch.sources.ids.size());
  std::int64_t read = 0;
  for (const std::int64_t sequence : batch.sequences_of_labels()) {
    const auto& example = batch.examples[static_cast<std::size_t>(sequence)];
    const std::int64_t answer = answers[read++].item<std::int64_t>();
    outputs[static_cast<std::size_t>(sequence)] = {example.candidates.empty() ? answer : pointed_row(example, answer)};
  }
  return outputs;
}

/// `first`: how many examples came before these.
Outputs decode_batch(const Session& session, const core::Model& model, std::span<const datasets::Example> examples,
                     std::int64_t first) {
  const core::Steps steps = steps_of(session.options);
  const RankBatch batch = rank_batch(examples, first, session.mesh, session.options.exchange);
  const auto gather = [&](const Outputs& outputs, std::int64_t longest) {
    return core::gather_outputs(outputs, static_cast<std::int64_t>(batch.first_example), examples.size(), longest,
                                session.mesh.world());
  };
  if (!session.task->has_target() || !session.task->has_source()) return gather(read_answers(model, batch, steps), 1);
  core::DecodingOptions how = decoding_options(session.options, *session.task, examples);
  const std::int64_t longest = std::ranges::max(how.limits);
  const auto mine = how.limits.begin() + static_cast<std::ptrdiff_t>(batch.first_example);
  how.limits = {mine, mine + std::ssize(batch.sources.ids)};
  Outputs outputs = core::decode(model, batch.rows, batch.sources, steps, how, session.mesh.sequence()).outputs;
  if (session.mesh.sequence_rank() != 0) outputs.clear();  // all ranks of a sequence have them
  return gather(outputs, longest);
}

/// An output as a person reads it: of a row that is pointed at the word, which the vocabulary may not have.
std::string text_of(const std::vector<std::int64_t>& output, const std::string& line, const datasets::Task& task) {
  if (!task.points()) return task.render(output);
  const std::vector<std::string_view> words = datasets::split_at_spaces(line);
  return std::string(words.at(words.size() - static_cast<std::size_t>(output.front())));
}

/// The outputs of all examples, `--evaluation-batch` at a time; said as soon as they are there.
void decode_all(const Session& session, const core::Model& model, std::span<const std::string> lines,
                std::span<const datasets::Example> examples) {
  const auto most = static_cast<std::size_t>(session.options.evaluation_batch);
  std::int64_t done = 0;
  while (!examples.empty()) {
    std::vector<datasets::Example> asked;  // without those that have no source: their output is empty
    std::vector<bool> is_asked;
    for (; !examples.empty() && asked.size() < most; examples = examples.subspan(1)) {
      is_asked.push_back(!examples.front().source.empty() || !session.task->has_source());
      if (is_asked.back()) asked.push_back(examples.front());
    }
    const Outputs outputs = asked.empty() ? Outputs() : decode_batch(session, model, asked, done);
    done += std::ssize(asked);
    if (!session.speaks()) continue;
    auto output = outputs.begin();
    for (const bool answered : is_asked) {
      fmt::print("{}\n", answered ? text_of(*output++, lines.front(), *session.task) : "");
      lines = lines.subspan(1);
    }
    std::fflush(stdout);  // through a pipe, too
  }
}

}  // namespace

int decode(Session& session) {
  std::unique_ptr<core::Model> model;
  std::vector<datasets::Example> examples;
  const auto checkpoints = agreed_checkpoints(session.options, session.mesh.world());
  agree(session.mesh.world(),
        [&] { model = load_model(session.options, *session.task, checkpoints, session.mesh.device()); });
  const std::vector<std::string> lines = datasets::raw_lines(typed_text(session));
  agree(session.mesh.world(), [&] { examples = parse_lines(lines, *session.task); });
  decode_all(session, *model, lines, examples);
  return 0;
}

}  // namespace ut::launcher
