#include "datasets/sampler.h"

#include <numeric>
#include <stdexcept>

#include "base/shuffle.h"

namespace ut::datasets {
namespace {

std::vector<std::int64_t> permutation(std::int64_t size, std::uint64_t key) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  base::Random random(key);
  base::shuffle(order, random);
  return order;
}

}  // namespace

Sampler::Sampler(std::int64_t examples, std::uint64_t seed) : examples_(examples), seed_(seed) {
  if (examples < 1) throw std::invalid_argument("Sampler: there must be at least one example");
}

std::vector<std::int64_t> Sampler::indices(std::int64_t cursor, std::int64_t count) {
  if (cursor < 0 || count < 0) throw std::invalid_argument("Sampler: cursor and count must not be negative");
  std::vector<std::int64_t> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  for (std::int64_t sample = cursor; sample < cursor + count; ++sample) {
    const std::int64_t epoch = sample / examples_;
    if (epoch != epoch_) {
      order_ = permutation(examples_, base::mix(seed_, static_cast<std::uint64_t>(epoch)));
      epoch_ = epoch;
    }
    drawn.push_back(order_[static_cast<std::size_t>(sample % examples_)]);
  }
  return drawn;
}

}  // namespace ut::datasets
