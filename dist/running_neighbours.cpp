#include "dist/running_neighbours.h"

#include <ATen/ATen.h>

#include <utility>

#include "dist/differentiable.h"
#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::dist {
namespace {

void add(RowNumbers& rows, const RowNumbers& more) { rows.insert(rows.end(), more.begin(), more.end()); }

/// Puts `fresh` [rows, c] into the slots `fresh_numbers`, then returns the rows at `numbers`, in parts as add_rows()
/// takes them. The backward pass leaves the gradients of other rows in the store, for the node that put those rows
/// there.
at::Tensor stored_rows(const std::shared_ptr<RowStore>& store, const at::Tensor& numbers,
                       std::vector<std::int64_t> parts, const at::Tensor& fresh, const at::Tensor& fresh_numbers) {
  store->put(fresh, fresh_numbers);
  return with_backward(store->rows().index_select(0, numbers), {fresh},
                       [store, numbers, parts = std::move(parts), fresh_numbers](const at::Tensor& gradient) {
                         at::Tensor& gradients = store->gradients();
                         add_rows(gradients, numbers, gradient.to(gradients.scalar_type()), parts);
                         return std::vector<at::Tensor>{store->take_gradients(fresh_numbers)};
                       });
}

}  // namespace

RunningNeighbours::RunningNeighbours(std::vector<std::int64_t> offsets, Communicator& group)
    : offsets_(std::move(offsets)), group_(group), given_(static_cast<std::size_t>(group.size())) {}

RunningNeighbours::Step RunningNeighbours::next_step(const HeldRows& held, std::int64_t before, std::int64_t after) {
  std::vector<RowNumbers> has = held.running;
  std::vector<const RowNumbers*> halted_parts;
  for (std::size_t r = 0; r < has.size(); ++r)
    for (const RowNumbers* halted : {&held.just_halted[r], &held.halted_before[r]}) {
      add(has[r], *halted);
      halted_parts.push_back(halted);
    }
  const std::vector<bool> is_halted = marked(halted_parts);
  const std::vector<RowNumbers> needs = missing(held, has, before, after);
  const Route route = make_route(rank(), offsets_.back(), has, needs);
  for (std::size_t r = 0; r < needs.size(); ++r)
    for (const std::int64_t row : needs[r])
      if (is_halted[static_cast<std::size_t>(row)]) given_[r].push_back(row);

  RowNumbers own = held.running[rank()];
  add(own, held.just_halted[rank()]);
  RowNumbers to_send;
  for (const std::int64_t place : route.to_send) to_send.push_back(has[rank()][static_cast<std::size_t>(place)]);
  const at::Device device = group_.device();
  return {
      before,     after,         on_device(own, device), on_device(to_send, device), on_device(route.arriving, device),
      route.sent, route.received};
}

/// Both look-ups go through the store, which also holds rows that halted earlier: for what is sent, after this rank's
/// rows were put in; for what is asked for, after the rows that came were put in.
KnownRows RunningNeighbours::bring(const Step& step, const at::Tensor& rows,
                                   const std::shared_ptr<RowStore>& store) const {
  const at::Tensor out = stored_rows(store, step.to_send, step.sent, rows, step.own);
  const at::Tensor come = all_to_all(out, step.sent, step.received, group_);
  return [store, come, arriving = step.arriving, device = group_.device()](const RowNumbers& numbers) {
    return stored_rows(store, on_device(numbers, device), {std::ssize(numbers)}, come, arriving);
  };
}

/// [rows]: whether one of the parts has the row.
std::vector<bool> RunningNeighbours::marked(const std::vector<const RowNumbers*>& parts) const {
  std::vector<bool> is_there(static_cast<std::size_t>(offsets_.back()), false);
  for (const RowNumbers* rows : parts)
    for (const std::int64_t row : *rows) is_there[static_cast<std::size_t>(row)] = true;
  return is_there;
}

/// [ranks]: the rows beside each rank's running ones that it neither has nor was given.
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

}  // namespace ut::dist
