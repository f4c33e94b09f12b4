#include "datasets/moses_tokens.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "datasets/text_rules.h"

namespace ut::datasets {
namespace {

using Words = std::vector<std::u32string>;

/// What replaces wide and typographic punctuation.
const std::unordered_map<char32_t, std::u32string_view>& plain_punctuation() {
  static const std::unordered_map<char32_t, std::u32string_view> table = {
      {U'，', U","},  {U'、', U","},  {U'。', U". "}, {U'．', U". "}, {U'：', U":"},  {U'∶', U":"},   {U'；', U";"},
      {U'？', U"?"},  {U'！', U"!"},  {U'“', U"\""},  {U'”', U"\""},  {U'《', U"\""}, {U'》', U"\""}, {U'「', U"\""},
      {U'」', U"\""}, {U'’', U"'"},   {U'（', U"("},  {U'）', U")"},  {U'【', U"["},  {U'】', U"]"},  {U'〈', U"<"},
      {U'〉', U">"},  {U'…', U"..."}, {U'━', U"-"},   {U'～', U"~"},  {U'％', U"%"}};
  return table;
}

std::u32string with_plain_punctuation(std::u32string_view text) {
  constexpr char32_t wide_zero = U'０';
  std::u32string result;
  for (const char32_t character : text) {
    const auto found = plain_punctuation().find(character);
    if (found != plain_punctuation().end())
      result += found->second;
    else if (character >= wide_zero && character < wide_zero + 10)
      result += U'0' + (character - wide_zero);
    else
      result += character;
  }
  return result;
}

std::u32string without_control_characters(std::u32string_view text) {
  std::u32string result;
  for (const char32_t character : text) {
    if (is_space(character))
      result += U' ';
    else if (character >= U' ')
      result += character;
  }
  return result;
}

bool stays_with_words(char32_t character) {
  return is_letter_or_digit(character) || std::u32string_view(U" .'`,-").find(character) != std::u32string_view::npos;
}

std::u32string set_dots_apart(std::u32string_view text) {
  std::u32string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(U'.', begin), text.size());
    if (end - begin >= 2)
      result.append(U" ").append(text.substr(begin, end - begin)).append(U" ");
    else
      result += text.substr(begin, std::max<std::size_t>(1, end - begin));
    begin = std::max(end, begin + 1);
  }
  return result;
}

std::u32string set_commas_apart(std::u32string text) {
  const auto comma = [](char32_t character) { return character == U','; };
  const auto no_number = [](char32_t character) { return !is_number(character); };
  text = part_pairs(text, no_number, comma, U"", U" ");
  text = part_pairs(text, comma, no_number, U" ", U"");
  if (text.size() > 1 && comma(text.back())) {
    text.pop_back();
    text += U" ,";
  }
  return text;
}

Words words_of(std::u32string_view text) {
  Words words(1);
  for (const char32_t character : text) {
    if (character != U' ')
      words.back() += character;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Whether a word, given without its full stop, keeps it: abbreviations, one letter, numbers below 100 and Roman
/// numbers up to twenty.
bool is_abbreviation(std::u32string_view word) {
  static const std::set<std::u32string_view> abbreviations = {
      U"usw", U"etc", U"bzw", U"vgl",  U"evtl",   U"ggf",  U"sog",  U"bzgl", U"dgl", U"usf",  U"vs",  U"jun",
      U"sen", U"Mio", U"Mrd", U"MwSt", U"Std",    U"Co",   U"Corp", U"Ltd",  U"Dr",  U"Prof", U"Hon", U"Mr",
      U"Mrs", U"Ms",  U"Mme", U"St",   U"Sr",     U"Gen",  U"Gov",  U"Capt", U"Col", U"Lt",   U"Maj", U"Sgt",
      U"Sen", U"Rep", U"Rev", U"Ph",   U"Buchst", U"Bros", U"Cmdr", U"ca",   U"Ca"};
  const auto made_of = [word](std::u32string_view characters) {
    return word.find_first_not_of(characters) == std::u32string_view::npos;
  };
  const bool number = word.size() <= 2 && made_of(U"0123456789") && word.front() != U'0';
  const bool above_twenty = word.size() > 2 && (word.starts_with(U"XX") || word.starts_with(U"xx"));
  const bool roman = (made_of(U"IVX") || made_of(U"ivx")) && !above_twenty;
  const bool letter = word.size() == 1 && word.front() < 0x80 && is_letter(word.front());
  return letter || number || roman || abbreviations.contains(word);
}

/// Words that keep their full stop before a number: Nr. 5
bool announces_number(std::u32string_view word) {
  static const std::set<std::u32string_view> words = {U"Nr", U"No", U"Nos", U"Art", U"pp"};
  return words.contains(word);
}

bool keeps_full_stop(std::u32string_view word, std::u32string_view next) {
  if (word.find(U'.') != std::u32string_view::npos && std::any_of(word.begin(), word.end(), is_letter)) return true;
  if (is_abbreviation(word) || is_lower_case(next.front())) return true;
  return announces_number(word) && next.front() >= U'0' && next.front() <= U'9';
}

}  // namespace

std::u32string moses_tokens(std::u32string_view text) {
  std::u32string cut = without_control_characters(with_plain_punctuation(text));
  cut = set_apart(cut, [](char32_t character) { return !stays_with_words(character); });
  cut = set_commas_apart(set_dots_apart(cut));
  cut = set_apart(cut, [](char32_t character) { return character == U'\''; });
  const Words words = words_of(cut);
  std::u32string result;
  for (std::size_t place = 0; place < words.size(); ++place) {
    const std::u32string_view word = words[place];
    const std::u32string_view stem = word.substr(0, word.size() - 1);
    const bool last = place + 1 == words.size();
    const bool stops = word.ends_with(U'.') && stem.find_first_not_of(U'.') != std::u32string_view::npos;
    const bool cut_off = stops && (last || !keeps_full_stop(stem, words[place + 1]));
    result += cut_off ? stem : word;
    if (cut_off) result += U" .";
    if (!last) result += U' ';
  }
  return result;
}

}  // namespace ut::datasets
