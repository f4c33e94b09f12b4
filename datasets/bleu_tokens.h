#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ut::datasets {

/// How lines are cut into tokens before BLEU counts them.
///   v13a              as mteval-v13a and sacreBLEU's `13a`
///   international     as mteval-v14 and sacreBLEU's `intl`: at Unicode's punctuation and symbols
///   none              at white space
///   tokenised_split   as the papers' scores (the script get_ende_bleu.sh): German text by moses_tokens(), and
///                     `a-b` as `a ##AT##-##AT## b`. Here both sides are raw text and cut the same way; in that script
///                     the reference is tokenised beforehand.
enum class BleuTokens { v13a, international, none, tokenised_split };

/// The tokens of one line. With `lower_cased` the tokens of its lower case, as sacreBLEU has it. Throws base::BadInput
/// where the line is not UTF-8.
std::vector<std::string> bleu_tokens(std::string_view line, BleuTokens kind, bool lower_cased);

/// sacreBLEU's name of it, as in its signature: 13a, intl, none; and tokenised-split.
std::string bleu_tokens_name(BleuTokens kind);

}  // namespace ut::datasets
