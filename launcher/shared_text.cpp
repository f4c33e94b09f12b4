#include "launcher/shared_text.h"

#include <ATen/ATen.h>

namespace ut::launcher {

std::string text_of_rank(const std::string& text, int root, dist::Communicator& world) {
  const bool mine = world.rank() == root;
  at::Tensor size = at::full({1}, mine ? static_cast<std::int64_t>(text.size()) : 0, at::kLong);
  world.all_reduce_sum(size, dist::Purpose::control);
  at::Tensor letters = at::zeros({size.item<std::int64_t>()}, at::kLong);
  auto* letter = letters.mutable_data_ptr<std::int64_t>();
  if (mine) std::copy(text.begin(), text.end(), letter);
  world.all_reduce_sum(letters, dist::Purpose::control);
  std::string result;
  for (std::int64_t index = 0; index < letters.numel(); ++index) result.push_back(static_cast<char>(letter[index]));
  return result;
}

}  // namespace ut::launcher
