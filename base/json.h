#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ut::base {

/// Whether brackets stand in more than 64 others. What copies, writes or compares a value goes into it by calling
/// itself, so that a file of nothing but brackets would end the program.
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

/// What somebody's JSON says; a discarded value (none of its kinds holds) where it is none, or is nested too deep.
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text) {
  if (is_nested_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

/// A value in a line, whatever its strings have: what is no UTF-8 in them is replaced.
template <typename Json>
std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ut::base
