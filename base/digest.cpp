#include "base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace ut::base {

std::string digest(const void* bytes, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace ut::base
