#include "dist/running_neighbours.h"

#include <ATen/ATen.h>

#include <iterator>
#include <utility>

#include "dist/differentiable.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::dist {
namespace {

void add(RowNumbers& rows, const RowNumbers& more) { rows.insert(rows.end(), more.begin(), more.end()); }

at::Tensor with(const at::Tensor& some, const at::Tensor& more) {
  return some.defined() ? at::cat({some, more}) : more;
}

}  // namespace

RunningNeighbours::RunningNeighbours(std::vector<std::int64_t> offsets, Communicator& group)
    : offsets_(std::move(offsets)), group_(group), given_(static_cast<std::size_t>(group.size())) {}

KnownRows RunningNeighbours::bring(const at::Tensor& rows, KeptRows& kept, const HeldRows& held, const RowNumbers& seen,
                                   std::int64_t before, std::int64_t after) {
  if (!step_) step_ = make_step(held, seen, before, after);
  const at::Tensor mine = kept.own.defined() ? at::cat({rows, kept.own}) : rows;
  const Route& route = step_->route;
  const at::Tensor come = all_to_all(mine.index_select(0, step_->to_send), route.sent, route.received, group_);
  std::vector<at::Tensor> parts{mine, come};
  if (kept.of_others.defined()) parts.push_back(kept.of_others);
  const auto running = std::ssize(held.running[rank()]);
  if (rows.size(0) > running) kept.own = with(kept.own, rows.narrow(0, running, rows.size(0) - running));
  if (step_->halted.numel() > 0) kept.of_others = with(kept.of_others, select_rows(come, step_->halted));
  return {at::cat(parts), step_->places};
}

RunningNeighbours::Step RunningNeighbours::make_step(const HeldRows& held, const RowNumbers& seen, std::int64_t before,
                                                     std::int64_t after) {
  std::vector<RowNumbers> has = held.running;
  std::vector<const RowNumbers*> halted_parts;
  for (std::size_t r = 0; r < has.size(); ++r)
    for (const RowNumbers* halted : {&held.copied[r], &held.kept[r]}) {
      add(has[r], *halted);
      halted_parts.push_back(halted);
    }
  const std::vector<bool> is_halted = marked(halted_parts);
  const std::vector<RowNumbers> needs = missing(held, has, before, after);
  Step step;
  step.route = make_route(rank(), offsets_.back(), has, needs);
  const RowNumbers& arriving = step.route.arriving;
  step.to_send = on_device(step.route.to_send, group_.device());

  RowNumbers known = has[rank()];
  add(known, arriving);
  add(known, given_[rank()]);
  step.places = places_of(seen, known);

  std::vector<std::int64_t> halted;
  for (std::size_t place = 0; place < arriving.size(); ++place)
    if (is_halted[static_cast<std::size_t>(arriving[place])]) halted.push_back(static_cast<std::int64_t>(place));
  step.halted = on_device(halted, group_.device());
  for (std::size_t r = 0; r < needs.size(); ++r)  // of this rank's in the order in which they come
    for (const std::int64_t row : r == rank() ? arriving : needs[r])
      if (is_halted[static_cast<std::size_t>(row)]) given_[r].push_back(row);
  return step;
}

/// [rows]: whether one of the parts has it.
std::vector<bool> RunningNeighbours::marked(const std::vector<const RowNumbers*>& parts) const {
  std::vector<bool> is_there(static_cast<std::size_t>(offsets_.back()), false);
  for (const RowNumbers* rows : parts)
    for (const std::int64_t row : *rows) is_there[static_cast<std::size_t>(row)] = true;
  return is_there;
}

/// [ranks]: the rows beside a rank's running ones that it neither has nor was given.
std::vector<RowNumbers> RunningNeighbours::missing(const HeldRows& held, const std::vector<RowNumbers>& has,
                                                   std::int64_t before, std::int64_t after) const {
  std::vector<RowNumbers> needs;
  for (std::size_t r = 0; r < has.size(); ++r) {
    const std::vector<bool> is_there = marked({&has[r], &given_[r]});
    RowNumbers& rows = needs.emplace_back(rows_beside(held.running[r], offsets_, before, after));
    std::erase_if(rows, [&](std::int64_t row) { return is_there[static_cast<std::size_t>(row)]; });
  }
  return needs;
}

/// [seen rows]: the place of each among those known, -1 where it is not.
std::vector<std::int64_t> RunningNeighbours::places_of(const RowNumbers& seen, const RowNumbers& known) const {
  std::vector<std::int64_t> place_of_row(static_cast<std::size_t>(offsets_.back()), -1);
  for (std::size_t place = 0; place < known.size(); ++place)
    place_of_row[static_cast<std::size_t>(known[place])] = static_cast<std::int64_t>(place);
  std::vector<std::int64_t> places;
  for (const std::int64_t row : seen) places.push_back(place_of_row[static_cast<std::size_t>(row)]);
  return places;
}

}  // namespace ut::dist
