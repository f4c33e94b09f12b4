#include "launcher/ranks/shared_text.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <span>

namespace ut::launcher {

std::string text_of_rank(const std::string& text, int root, dist::Communicator& world) {
  return texts_of_ranks(world.rank() == root ? text : "", world)[static_cast<std::size_t>(root)];
}

std::vector<std::string> texts_of_ranks(const std::string& text, dist::Communicator& world) {
  const std::vector<std::int64_t> one_each(static_cast<std::size_t>(world.size()), 1);
  const auto length = static_cast<std::int64_t>(text.size());
  const at::Tensor lengths = world.all_gather_rows(at::full({1}, length, at::kLong), one_each, dist::Purpose::control);
  const auto* length_of = lengths.const_data_ptr<std::int64_t>();
  const std::span<const std::int64_t> counts(length_of, one_each.size());

  const at::Tensor mine = at::empty({length}, at::kByte);
  std::ranges::copy(text, mine.mutable_data_ptr<std::uint8_t>());
  const at::Tensor letters = world.all_gather_rows(mine, counts, dist::Purpose::control);
  const auto* letter = letters.const_data_ptr<std::uint8_t>();
  std::vector<std::string> texts;
  for (const std::int64_t count : counts) {
    texts.emplace_back(letter, letter + count);
    letter += count;
  }
  return texts;
}

}  // namespace ut::launcher
