#pragma once

#include <string>
#include <string_view>

namespace ut::datasets {

/// The code points of UTF-8 text. Throws base::BadInput if it is not UTF-8 or has more than 2^31 - 1 bytes.
std::u32string from_utf8(std::string_view text);
/// Whether from_utf8() accepts it.
bool is_utf8(std::string_view text);
std::string to_utf8(std::u32string_view text);

/// Lower case by Unicode's full mapping: a character can become several, and a sigma at a word's end is the final one.
std::u32string lower_case(std::u32string_view text);

// Unicode's classes, of the ICU that the program is linked with.
bool is_punctuation(char32_t character);      // P*
bool is_symbol(char32_t character);           // S*
bool is_number(char32_t character);           // N*
bool is_letter_or_digit(char32_t character);  // alphabetic, or a decimal digit (Nd)
bool is_letter(char32_t character);           // alphabetic
bool is_lower_case(char32_t character);
/// What Python's str.split() splits at.
bool is_space(char32_t character);

}  // namespace ut::datasets
