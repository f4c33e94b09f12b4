#include "datasets/bleu_tokens.h"

#include <stdexcept>
#include <utility>

#include "datasets/moses_tokens.h"
#include "datasets/text_rules.h"

namespace ut::datasets {
namespace {

bool is_digit(char32_t character) { return character >= U'0' && character <= U'9'; }

bool is_period_or_comma(char32_t character) { return character == U'.' || character == U','; }

/// ASCII that is neither a letter, a digit, nor one of ' , - and the full stop.
bool is_special(char32_t character) {
  const auto within = [character](char32_t low, char32_t high) { return character >= low && character <= high; };
  return within(U'{', U'~') || within(U'[', U'`') || within(U' ', U'&') || within(U'(', U'+') || within(U':', U'@') ||
         character == U'/';
}

std::u32string replace_all(const std::u32string& text, std::u32string_view what, std::u32string_view by) {
  std::u32string made;
  std::size_t begin = 0;
  for (std::size_t end = text.find(what); end != std::u32string::npos; end = text.find(what, begin)) {
    made.append(text, begin, end - begin).append(by);
    begin = end + what.size();
  }
  return made.append(text, begin);
}

std::u32string cut_13a(std::u32string text) {
  using Replacement = std::pair<std::u32string_view, std::u32string_view>;
  for (const auto& [what, by] : {Replacement(U"<skipped>", U""), Replacement(U"&quot;", U"\""),
                                 Replacement(U"&amp;", U"&"), Replacement(U"&lt;", U"<"), Replacement(U"&gt;", U">")})
    text = replace_all(text, what, by);
  text = set_apart(U" " + text + U" ", is_special);
  const auto no_digit = [](char32_t character) { return !is_digit(character); };
  text = part_pairs(text, no_digit, is_period_or_comma, U"", U" ");
  text = part_pairs(text, is_period_or_comma, no_digit, U" ", U"");
  return part_pairs(
      text, is_digit, [](char32_t character) { return character == U'-'; }, U"", U" ");
}

std::u32string cut_internationally(std::u32string text) {
  const auto no_number = [](char32_t character) { return !is_number(character); };
  text = part_pairs(text, no_number, is_punctuation, U"", U" ");
  text = part_pairs(text, is_punctuation, no_number, U" ", U"");
  return set_apart(text, is_symbol);
}

std::u32string split_compounds(std::u32string_view text) {
  std::u32string result;
  for (std::size_t place = 0; place < text.size(); ++place) {
    result += text[place];
    const bool joined =
        place + 2 < text.size() && !is_space(text[place]) && text[place + 1] == U'-' && !is_space(text[place + 2]);
    if (!joined) continue;
    result += U" ##AT##-##AT## ";
    ++place;
    if (text[place + 1] < 0x80)
      result += text[++place];  // the script matches bytes, and each byte is in one match at most
  }
  return result;
}

std::u32string without_end_spaces(std::u32string text) {
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

std::vector<std::string> tokens_between_spaces(std::u32string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && !is_space(text[end])) ++end;
    if (end > begin) tokens.push_back(to_utf8(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return tokens;
}

}  // namespace

std::vector<std::string> bleu_tokens(std::string_view line, BleuTokens kind, bool lower_cased) {
  std::u32string text = from_utf8(line);
  if (kind == BleuTokens::tokenised_split) {
    text = split_compounds(moses_tokens(text));  // its rules depend on upper and lower case
    return tokens_between_spaces(lower_cased ? lower_case(text) : text);
  }
  if (lower_cased) text = lower_case(text);
  text = without_end_spaces(std::move(text));
  if (kind == BleuTokens::v13a) text = cut_13a(std::move(text));
  if (kind == BleuTokens::international) text = cut_internationally(std::move(text));
  return tokens_between_spaces(text);
}

std::string bleu_tokens_name(BleuTokens kind) {
  switch (kind) {
    case BleuTokens::v13a:
      return "13a";
    case BleuTokens::international:
      return "intl";
    case BleuTokens::none:
      return "none";
    case BleuTokens::tokenised_split:
      return "tokenised-split";
  }
  throw std::logic_error("BLEU: unknown kind of tokens");
}

}  // namespace ut::datasets
