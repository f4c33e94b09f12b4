#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/span.h"

namespace ut::datasets {

/// Which words of a running text are asked for, given those before them (as Chu et al., 2017, make LAMBADA's training
/// data: of words that stand in their own context alone).
struct RepeatedWords {
  std::int64_t context = 0;  // a word is asked for where it stands among so many before it; 0: none is
  std::int64_t common = 0;   // and is none of these, the most frequent
};

/// How often a word is asked for, each time with as many words before it as are drawn, half the context at least.
constexpr std::int64_t contexts_of_word = 4;

/// use(context, place) for every repeated word of `text` and each of its contexts, in the order of the text.
void for_each_repeat(std::span<const std::int32_t> text, std::int64_t context,
                     const std::function<bool(std::int32_t)>& is_common,
                     const std::function<void(base::Span, std::int64_t)>& use);

}  // namespace ut::datasets
