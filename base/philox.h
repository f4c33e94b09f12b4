#pragma once

#include <array>
#include <cstdint>

namespace ut::base {

/// The constants of Philox4x32-10, for code that computes it in vector instructions.
namespace philox4x32 {
inline constexpr int rounds = 10;
inline constexpr std::uint32_t multiplier_0 = 0xD2511F53;
inline constexpr std::uint32_t multiplier_2 = 0xCD9E8D57;
inline constexpr std::uint32_t key_step_low = 0x9E3779B9;
inline constexpr std::uint32_t key_step_high = 0xBB67AE85;
}  // namespace philox4x32

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"): four 32-bit random words that are a
/// pure function of a 128-bit counter and a 64-bit key. A number can thus be keyed on its purpose instead of on when it
/// is drawn, and is the same on every rank.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  auto key_low = static_cast<std::uint32_t>(key);
  auto key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < philox4x32::rounds; ++round) {
    const std::uint64_t first = std::uint64_t{philox4x32::multiplier_0} * counter[0];
    const std::uint64_t second = std::uint64_t{philox4x32::multiplier_2} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key_low, static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key_high, static_cast<std::uint32_t>(first)};
    key_low += philox4x32::key_step_low;
    key_high += philox4x32::key_step_high;
  }
  return counter;
}

/// Mixes two words into one so that neighbouring inputs give unrelated outputs (SplitMix64's finaliser).
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9E3779B97F4A7C15 * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// A random word as a number uniform in (0, 1).
constexpr double uniform(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// A stream of random numbers that is a pure function of its key; for generating data.
class Random {
 public:
  explicit constexpr Random(std::uint64_t key) : key_(key) {}

  constexpr std::uint32_t word() {
    if (used_ == 4) {
      block_ = philox({static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32), 0, 0}, key_);
      ++index_;
      used_ = 0;
    }
    return block_[used_++];
  }

  /// Uniform in low..high, both included. Needs low <= high.
  constexpr std::int64_t uniform(std::int64_t low, std::int64_t high) {
    const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    if (range == 0) return static_cast<std::int64_t>(wide());
    const std::uint64_t rejected = (0 - range) % range;  // below this, the remainder would favour small values
    std::uint64_t drawn = wide();
    while (drawn < rejected) drawn = wide();
    return low + static_cast<std::int64_t>(drawn % range);
  }

 private:
  constexpr std::uint64_t wide() {
    const std::uint64_t high = word();
    return high << 32 | word();
  }

  std::uint64_t key_;
  std::uint64_t index_ = 0;
  std::array<std::uint32_t, 4> block_{};
  std::size_t used_ = 4;
};

}  // namespace ut::base
