#include "launcher/run/input.h"

#include <span>

#include "launcher/process/stopwatch.h"
#include "launcher/run/rank_batch.h"

namespace ut::launcher {

datasets::BatchOptions batch_options(const Options& options) {
  return {options.accumulate, options.batch, options.batch_rows, options.batch_window};
}

InputAhead::InputAhead(const Session& session, std::int64_t update, const datasets::Cursor& cursor)
    : session_(session),
      update_(update),
      batches_(*session.task, batch_options(session.options), session.options.seed, cursor) {
  start();
}

void InputAhead::start() { coming_ = std::async(std::launch::async, &InputAhead::make, this); }

Input InputAhead::next() {
  const Stopwatch stopwatch;
  Input input = coming_.get();
  waited_seconds_ += stopwatch.seconds();
  start();
  return input;
}

Input InputAhead::make() {
  const Options& options = session_.options;
  const RandomOffset offset{options.random_offset, options.seed, update_++};
  Input input{batches_.next(), {}, batches_.cursor()};
  const std::span<const datasets::ExampleSize> all(input.batch.examples);
  const auto make = [&](std::int64_t number) { return session_.task->example(datasets::Split::train, number); };
  std::int64_t first = 0;
  for (const std::int64_t count : input.batch.parts) {
    const auto of_part = all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    input.micro_batches.push_back(rank_batch(of_part, make, first, session_.mesh, options.exchange, offset).rows);
    first += count;
  }
  return input;
}

}  // namespace ut::launcher
