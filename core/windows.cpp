#include "core/windows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "dist/on_device.h"

namespace ut::core {
namespace {

/// Numbers rows in the order in which they are first met.
class MetRows {
 public:
  explicit MetRows(std::size_t rows) : number_(rows, -1) {}

  std::int64_t number(std::int64_t row) {
    std::int64_t& number = number_[static_cast<std::size_t>(row)];
    if (number < 0) {
      number = std::ssize(met_);
      met_.push_back(row);
    }
    return number;
  }
  const std::vector<std::int64_t>& met() const { return met_; }

 private:
  std::vector<std::int64_t> number_;  // [rows]: -1 where not met
  std::vector<std::int64_t> met_;
};

}  // namespace

Windows windows_over(const dist::KnownRows& known, at::Device device, const dist::Rows& local, const dist::Rows& seen,
                     std::span<const std::int64_t> number, const Reach& first, const Reach& second) {
  const auto* position = local.position.const_data_ptr<std::int64_t>();
  MetRows inner(number.size());
  MetRows looked_at(number.size());  // by the first convolution; others are not kept for the backward pass
  std::vector<std::int64_t> first_table;
  std::vector<std::int64_t> second_table;
  std::vector<std::int64_t> inner_offsets{0};
  for (std::size_t sequence = 0; sequence + 1 < local.offsets.size(); ++sequence) {
    const std::int64_t begin = seen.offsets[sequence];
    const std::int64_t end = seen.offsets[sequence + 1];
    const auto look = [&](std::int64_t from, const Reach& reach, MetRows& among, std::vector<std::int64_t>& table) {
      for (auto at = from - reach.before; at <= from + reach.after; ++at)
        table.push_back(at < begin || at >= end ? -1 : among.number(at));
    };
    std::int64_t next = begin;  // the first row that the second convolution has not looked at yet
    for (auto row = local.offsets[sequence]; row < local.offsets[sequence + 1]; ++row) {
      const std::int64_t here = begin + position[row];
      for (next = std::max(next, here - second.before); next < std::min(end, here + second.after + 1); ++next) {
        inner.number(next);
        look(next, first, looked_at, first_table);
      }
      look(here, second, inner, second_table);
    }
    inner_offsets.push_back(std::ssize(inner.met()));
  }
  const auto over = [device](const at::Tensor& rows, const std::vector<std::int64_t>& table, const Reach& reach) {
    return dist::Neighbours{rows, {}, dist::on_device(table, device).view({-1, reach.width()})};
  };
  dist::RowNumbers numbers;
  for (const std::int64_t row : looked_at.met()) numbers.push_back(number[static_cast<std::size_t>(row)]);
  const at::Tensor of_inner = at::tensor(inner.met(), at::kLong);
  return {over(known(numbers), first_table, first),
          {seen.sequence.index_select(0, of_inner), seen.position.index_select(0, of_inner), std::move(inner_offsets)},
          [over, table = std::move(second_table), second](const at::Tensor& hidden) {
            return over(hidden, table, second);
          }};
}

}  // namespace ut::core
