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

std::vector<std::string> texts_at_first(const std::string& text, dist::Communicator& world) {
  const std::vector<std::int64_t> lengths = lengths_of_ranks(text, world);
  const std::vector<std::int64_t> none(lengths.size(), 0);
  std::vector<std::int64_t> to_first = none;
  to_first.front() = std::ssize(text);
  const bool is_first = world.rank() == 0;
  const at::Tensor letters =
      world.all_to_all_rows(letters_of(text), to_first, is_first ? lengths : none, dist::Purpose::control);
  return is_first ? cut(letters, lengths) : std::vector<std::string>();
}

}  // namespace ut::launcher
