#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ut::datasets {

/// How lines are cut into tokens before BLEU counts them.
///   v13a              as mteval-v13a and sacreBLEU's `13a`
///   international     as mteval-v14 and sacreBLEU's `intl`: at Unicode's punctuation and symbols
///   none              at white space
///   tokenised_split   as for the papers' scores (the script get_ende_bleu.sh): German text by moses_tokens(), with
///                     `a-b` as `a ##AT##-##AT## b`. Here both sides are raw text and cut the same way; that script
///                     gets a reference that was tokenised beforehand.
enum class BleuTokens { v13a, international, none, tokenised_split };

/// The tokens of one line; with `lower_cased`, in lower case as in sacreBLEU. Throws base::BadInput if the line is not
/// UTF-8.
std::vector<std::string> bleu_tokens(std::string_view line, BleuTokens kind, bool lower_cased);

/// The kind's name: sacreBLEU's, as in its signature (13a, intl, none), or tokenised-split.
std::string bleu_tokens_name(BleuTokens kind);

}  // namespace ut::datasets
