#include "launcher/ranks/shared_values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace ut::launcher {
namespace {

std::vector<std::int64_t> lengths_of_ranks(const std::string& text, dist::Communicator& world) {
  const at::Tensor lengths = numbers_of_ranks(at::full({1}, std::ssize(text), at::kLong), world);
  const auto* length = lengths.const_data_ptr<std::int64_t>();
  return {length, length + world.size()};
}

/// [letters] uint8
at::Tensor letters_of(const std::string& text) {
  at::Tensor letters = at::empty({std::ssize(text)}, at::kByte);
  std::ranges::copy(text, letters.mutable_data_ptr<std::uint8_t>());
  return letters;
}

std::vector<std::string> cut(const at::Tensor& letters, const std::vector<std::int64_t>& lengths) {
  const auto* letter = letters.const_data_ptr<std::uint8_t>();
  std::vector<std::string> texts;
  for (const std::int64_t length : lengths) {
    texts.emplace_back(letter, letter + length);
    letter += length;
  }
  return texts;
}

}  // namespace

at::Tensor numbers_of_ranks(const at::Tensor& mine, dist::Communicator& world) {
  const std::vector<std::int64_t> one_each(static_cast<std::size_t>(world.size()), 1);
  return world.all_gather_rows(mine.view({1, -1}), one_each, dist::Purpose::control).contiguous();
}

std::string text_of_rank(const std::string& text, int root, dist::Communicator& world) {
  return texts_of_ranks(world.rank() == root ? text : "", world)[static_cast<std::size_t>(root)];
}

std::vector<std::string> texts_of_ranks(const std::string& text, dist::Communicator& world) {
  const std::vector<std::int64_t> lengths = lengths_of_ranks(text, world);
  return cut(world.all_gather_rows(letters_of(text), lengths, dist::Purpose::control), lengths);
}

std::vector<std::string> texts_at_first(const std::string& text, dist::Communicator& world,
                                        std::int64_t letters_in_message) {
  const std::vector<std::int64_t> lengths = lengths_of_ranks(text, world);
  const std::int64_t longest = std::ranges::max(lengths);
  const std::int64_t at_once = std::max<std::int64_t>(1, letters_in_message / world.size());
  std::vector<std::string> texts(world.rank() == 0 ? lengths.size() : 0);
  for (std::int64_t begin = 0; begin < longest; begin += at_once) {
    const auto part_of = [&](std::int64_t length) { return std::clamp<std::int64_t>(length - begin, 0, at_once); };
    const std::string part =
        text.substr(std::min(text.size(), static_cast<std::size_t>(begin)), static_cast<std::size_t>(at_once));
    std::vector<std::int64_t> to_first(lengths.size(), 0);
    to_first.front() = std::ssize(part);
    std::vector<std::int64_t> of_ranks(lengths.size(), 0);
    if (world.rank() == 0) std::ranges::transform(lengths, of_ranks.begin(), part_of);
    const at::Tensor letters = world.all_to_all_rows(letters_of(part), to_first, of_ranks, dist::Purpose::control);
    if (world.rank() != 0) continue;
    const std::vector<std::string> parts = cut(letters, of_ranks);
    for (std::size_t rank = 0; rank < parts.size(); ++rank) texts[rank] += parts[rank];
  }
  return texts;
}

}  // namespace ut::launcher
