#include "dist/heads.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/error.h"
#include "dist/differentiable.h"

namespace ut::dist {
namespace {

/// How many heads of rows go to each rank, and come from it, when rows cut by position become rows cut by head.
struct Travelling {
  std::vector<std::int64_t> by_heads;  // [ranks]: its heads of this rank's rows
  std::vector<std::int64_t> by_rows;   // [ranks]: this rank's heads of its rows
};

Travelling travelling(std::int64_t heads, const std::vector<std::int64_t>& counts, const Communicator& group) {
  const base::Span mine = my_heads(heads, group);
  Travelling result;
  for (int rank = 0; rank < group.size(); ++rank) {
    const base::Span theirs = base::share(heads, rank, group.size());
    result.by_heads.push_back((theirs.end - theirs.begin) * counts[static_cast<std::size_t>(group.rank())]);
    result.by_rows.push_back((mine.end - mine.begin) * counts[static_cast<std::size_t>(rank)]);
  }
  return result;
}

/// [a, b, c] -> [b * a, c]
at::Tensor exchanged(const at::Tensor& x) { return x.transpose(0, 1).reshape({x.size(0) * x.size(1), x.size(2)}); }

}  // namespace

base::Span my_heads(std::int64_t heads, const Communicator& group) {
  if (heads < group.size())
    throw base::BadInput(
        fmt::format("{} heads cannot be shared by {} ranks of a sequence; at most one rank a head, or "
                    "another form of exchange",
                    heads, group.size()));
  return base::share(heads, group.rank(), group.size());
}

at::Tensor to_heads(const at::Tensor& rows, const std::vector<std::int64_t>& counts, Communicator& group) {
  const base::Span mine = my_heads(rows.size(1), group);
  const auto [sent, received] = travelling(rows.size(1), counts, group);
  const auto arrived = all_to_all(exchanged(rows), sent, received, group).split_with_sizes(received);
  std::vector<at::Tensor> parts;  // [ranks][its rows, my heads, c]
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    parts.push_back(arrived[rank].view({mine.end - mine.begin, counts[rank], rows.size(2)}).transpose(0, 1));
  return at::cat(parts);
}

at::Tensor from_heads(const at::Tensor& rows, std::int64_t heads, const std::vector<std::int64_t>& counts,
                      Communicator& group) {
  const auto [received, sent] = travelling(heads, counts, group);
  std::vector<at::Tensor> parts;
  for (const at::Tensor& of_rank : rows.split_with_sizes(counts)) parts.push_back(exchanged(of_rank));
  const at::Tensor arrived = all_to_all(at::cat(parts), sent, received, group);
  const std::int64_t held = counts[static_cast<std::size_t>(group.rank())];
  return arrived.view({heads, held, rows.size(2)}).transpose(0, 1);
}

}  // namespace ut::dist
