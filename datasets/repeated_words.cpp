#include "datasets/repeated_words.h"

#include <algorithm>

#include "base/philox.h"

namespace ut::datasets {

void for_each_repeat(std::span<const std::int32_t> text, std::int64_t context,
                     const std::function<bool(std::int32_t)>& is_common,
                     const std::function<void(base::Span, std::int64_t)>& use) {
  for (std::int64_t place = context; place < std::ssize(text); ++place) {
    const std::int32_t word = text[static_cast<std::size_t>(place)];
    if (is_common(word)) continue;
    base::Random random(base::mix(static_cast<std::uint64_t>(context), static_cast<std::uint64_t>(place)));
    for (std::int64_t number = 0; number < contexts_of_word; ++number) {
      const std::int64_t words = random.uniform((context + 1) / 2, context);
      const auto before = text.subspan(static_cast<std::size_t>(place - words), static_cast<std::size_t>(words));
      if (std::ranges::find(before, word) != before.end()) use({place - words, place}, place);
    }
  }
}

}  // namespace ut::datasets
