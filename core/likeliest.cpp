#include "core/likeliest.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ut::core {

Likeliest gather_likeliest(const Likeliest& mine, std::int64_t first, std::size_t sequences, std::int64_t longest,
                           dist::Communicator& group) {
  const auto count = static_cast<std::int64_t>(sequences);
  at::Tensor table = at::zeros({count, longest}, at::kLong);  // symbols + 1; 0: none
  at::Tensor numbers = at::zeros({count}, at::kDouble);
  auto* entry = table.mutable_data_ptr<std::int64_t>();
  for (std::size_t index = 0; index < mine.outputs.size(); ++index)
    std::ranges::transform(mine.outputs[index], entry + (first + static_cast<std::int64_t>(index)) * longest,
                           [](std::int64_t symbol) { return symbol + 1; });
  std::ranges::copy(mine.log_probabilities, numbers.mutable_data_ptr<double>() + first);
  group.all_reduce_sum(table, dist::Purpose::control);
  group.all_reduce_sum(numbers, dist::Purpose::control);
  Likeliest all{Outputs(sequences), std::vector<double>(sequences)};
  for (auto& output : all.outputs) {
    for (std::int64_t place = 0; place < longest && entry[place] != 0; ++place) output.push_back(entry[place] - 1);
    entry += longest;
  }
  std::copy_n(numbers.const_data_ptr<double>(), sequences, all.log_probabilities.begin());
  return all;
}

}  // namespace ut::core
