#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ut::base {

/// Whether brackets are nested more than 64 deep. Code that copies, writes or compares a JSON value is recursive, so
/// that a file of nothing but brackets would end the program.
inline bool is_nested_too_deep(std::string_view json) {
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t place = 0; place < json.size(); ++place) {
    const char sign = json[place];
    if (sign == '\\' && is_quoted) {
      ++place;
    } else if (sign == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && (sign == '[' || sign == '{')) {
      if (++depth > 64) return true;
    } else if (!is_quoted && (sign == ']' || sign == '}')) {
      --depth;
    }
  }
  return false;
}

/// The value of JSON text. If the text is not JSON, or is nested too deep, the value is discarded: none of its types
/// holds.
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text) {
  if (is_nested_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

/// The number or truth value that the text is, or the text itself.
inline nlohmann::json json_or_text(const std::string& text) {
  const auto value = parse_json(text);
  return value.is_discarded() ? nlohmann::json(text) : value;
}

/// A value as one line of JSON. Bytes of its strings that are not UTF-8 are replaced.
template <typename Json>
std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ut::base
