#include "core/stack_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "dist/on_device.h"

namespace ut::core {

Windows windows_over(const at::Tensor& known, const dist::Rows& local, const dist::Rows& seen,
                     std::span<const std::int64_t> place, const Reach& first, const Reach& second) {
  const auto* position = local.position.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> inner;         // numbers among the seen rows
  std::vector<std::int64_t> first_table;   // [inner rows * width of the first]: known rows; -1 beyond the ends
  std::vector<std::int64_t> second_table;  // [local rows * width of the second]: inner rows; likewise
  std::vector<std::int64_t> inner_offsets{0};
  for (std::size_t sequence = 0; sequence + 1 < local.offsets.size(); ++sequence) {
    const std::int64_t begin = seen.offsets[sequence];
    const std::int64_t length = seen.offsets[sequence + 1] - begin;
    std::vector<std::int64_t> inner_of_position(static_cast<std::size_t>(length), -1);
    std::int64_t next = 0;  // the first position that was not yet looked at
    for (auto row = local.offsets[sequence]; row < local.offsets[sequence + 1]; ++row) {
      const std::int64_t end = std::min(length, position[row] + second.after + 1);
      for (next = std::max({next, position[row] - second.before, std::int64_t{0}}); next < end; ++next) {
        inner_of_position[static_cast<std::size_t>(next)] = static_cast<std::int64_t>(inner.size());
        inner.push_back(begin + next);
        for (auto at = next - first.before; at <= next + first.after; ++at)
          first_table.push_back(at < 0 || at >= length ? -1 : place[static_cast<std::size_t>(begin + at)]);
      }
      for (auto at = position[row] - second.before; at <= position[row] + second.after; ++at)
        second_table.push_back(at < 0 || at >= length ? -1 : inner_of_position[static_cast<std::size_t>(at)]);
    }
    inner_offsets.push_back(static_cast<std::int64_t>(inner.size()));
  }
  const auto over = [](const at::Tensor& rows, const std::vector<std::int64_t>& table, const Reach& reach) {
    return dist::Neighbours{rows, dist::on_device(table, rows.device()).view({-1, reach.width()})};
  };
  const at::Tensor numbers = at::tensor(inner, at::kLong);
  return {over(known, first_table, first),
          {seen.sequence.index_select(0, numbers), seen.position.index_select(0, numbers), std::move(inner_offsets)},
          [over, table = std::move(second_table), second](const at::Tensor& hidden) {
            return over(hidden, table, second);
          }};
}

at::Tensor mean_by_sequence(const at::Tensor& values, const at::Tensor& sequence_index, std::int64_t sequences,
                            const std::function<at::Tensor(const at::Tensor&)>& sum) {
  const at::Tensor value_and_one = at::stack({values, at::ones_like(values)}, 1);  // [rows, 2]
  const at::Tensor sums = sum(at::zeros({sequences, 2}, values.options()).index_add(0, sequence_index, value_and_one));
  const at::Tensor means = sums.select(1, 0) / sums.select(1, 1).clamp_min(1);  // [sequences]
  return means.index_select(0, sequence_index);
}

}  // namespace ut::core
