#include "datasets/unicode.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <limits>

#include "base/error.h"

namespace ut::datasets {
namespace {

UChar32 code(char32_t character) { return static_cast<UChar32>(character); }

bool is_of(char32_t character, std::uint32_t categories) { return (U_GET_GC_MASK(code(character)) & categories) != 0; }

std::u32string code_points(const icu::UnicodeString& text) {
  std::u32string characters;
  for (int32_t place = 0; place < text.length(); place = text.moveIndex32(place, 1))
    characters += static_cast<char32_t>(text.char32At(place));
  return characters;
}

icu::UnicodeString unicode_string(std::u32string_view text) {
  icu::UnicodeString string;
  for (const char32_t character : text) string.append(code(character));
  return string;
}

}  // namespace

std::u32string from_utf8(std::string_view text) {
  std::u32string characters;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (text.size() > std::numeric_limits<int32_t>::max())
    throw base::BadInput("{} bytes of text in one line; fewer are needed", text.size());
  const auto size = static_cast<int32_t>(text.size());
  for (int32_t place = 0; place < size;) {
    UChar32 character = 0;
    const int32_t begin = place;
    U8_NEXT(bytes, place, size, character);  // NOLINT(bugprone-inc-dec-in-conditions): inside the macro
    if (character < 0)
      throw base::BadInput("byte {} (0x{:02x}) is not UTF-8; text in UTF-8 is needed", begin + 1, bytes[begin]);
    characters += static_cast<char32_t>(character);
  }
  return characters;
}

bool is_utf8(std::string_view text) {
  try {
    from_utf8(text);
    return true;
  } catch (const base::BadInput&) {
    return false;
  }
}

std::string to_utf8(std::u32string_view text) {
  std::string bytes;
  return unicode_string(text).toUTF8String(bytes);
}

std::u32string lower_case(std::u32string_view text) {
  return code_points(unicode_string(text).toLower(icu::Locale::getRoot()));
}

bool is_punctuation(char32_t character) { return is_of(character, U_GC_P_MASK); }

bool is_symbol(char32_t character) { return is_of(character, U_GC_S_MASK); }

bool is_number(char32_t character) { return is_of(character, U_GC_N_MASK); }

bool is_letter(char32_t character) { return u_isUAlphabetic(code(character)) != 0; }

bool is_letter_or_digit(char32_t character) { return is_letter(character) || is_of(character, U_GC_ND_MASK); }

bool is_lower_case(char32_t character) { return u_isULowercase(code(character)) != 0; }

bool is_space(char32_t character) {
  const bool separates = character >= 0x1c && character <= 0x1f;  // file to unit separators: not Unicode's white space
  return separates || u_isUWhiteSpace(code(character)) != 0;
}

}  // namespace ut::datasets
