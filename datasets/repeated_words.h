#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/span.h"

namespace ut::datasets {

/// Which words of a running text are asked for, given the words before them. As in the training data that Chu et al.
/// (2017) make for LAMBADA, only words that occur in their own context are.
struct RepeatedWords {
  std::int64_t context = 0;  // a word is asked for if it occurs among up to this many words before it; 0: none is
  std::int64_t common = 0;   // and is not one of this many most frequent words
};

/// How many contexts are drawn for a word, each of at least half of `context` words. The word is asked for once with
/// each drawn context that contains it.
constexpr std::int64_t contexts_of_word = 4;

/// Calls use(context, place) for every repeated word of `text` and each of its contexts, in the order of the text. Both
/// are places in `text`. The first `context` words are not asked for.
void for_each_repeat(std::span<const std::int32_t> text, std::int64_t context,
                     const std::function<bool(std::int32_t)>& is_common,
                     const std::function<void(base::Span, std::int64_t)>& use);

}  // namespace ut::datasets
