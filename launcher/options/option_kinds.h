#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "launcher/options/option_table.h"

namespace ut::launcher::option_groups {

// Makers of options by the kind of value, and modifiers of any option. `field` says where in Options the value is: a
// pointer to a member, or what in() returns.

/// The field inside a part of the options: in(&Options::task, &TaskOptions::data).
template <typename Part, typename Field>
auto in(Part part, Field field) {
  return [=](auto& options) -> auto& { return options.*part.*field; };
}

/// The same in a part of a part.
template <typename Part, typename Inner, typename Field>
auto in(Part part, Inner inner, Field field) {
  return [=](auto& options) -> auto& { return options.*part.*inner.*field; };
}

/// The type of a field's value.
template <typename Field>
using ValueOf = std::remove_cvref_t<std::invoke_result_t<Field, Options&>>;

inline constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

/// Bound of real numbers: their squares are finite in float32 with room to spare.
inline constexpr double largest_real = 1e15;

/// Marks an option that sets several values which other options can set one by one: it is applied before them.
inline OptionEntry applied_first(OptionEntry entry) {
  entry.sets_others = true;
  return entry;
}

/// Marks an option that may change when a run is resumed.
inline OptionEntry may_change_on_resume(OptionEntry entry) {
  entry.may_change = true;
  return entry;
}

/// Marks an option whose default the help does not show.
inline OptionEntry without_default(OptionEntry entry) {
  entry.shows_default = false;
  return entry;
}

/// Marks a number that is 0 if it is not given; 0 itself cannot be given.
inline OptionEntry none_if_zero(OptionEntry entry) {
  entry.get = [get = entry.get](const Options& options) {
    const std::string value = get(options);
    return value == "0" ? std::string() : value;
  };
  return without_default(std::move(entry));
}

/// Without a placeholder the option is a flag.
inline OptionEntry entry_named(std::string name, std::string placeholder, std::string description,
                               std::string expected) {
  OptionEntry entry;
  entry.name = std::move(name);
  entry.placeholder = std::move(placeholder);
  entry.description = std::move(description);
  entry.expected = std::move(expected);
  return entry;
}

/// Whole number in low..high.
template <typename Field>
OptionEntry whole(std::string name, std::string description, Field field, std::int64_t low,
                  std::int64_t high = unbounded) {
  OptionEntry entry = entry_named(std::move(name), "N", std::move(description),
                                  high == unbounded ? fmt::format("a whole number of at least {}", low)
                                                    : fmt::format("a whole number from {} to {}", low, high));
  using Number = ValueOf<Field>;
  if (high == unbounded) entry.most = fmt::format("{}", std::numeric_limits<Number>::max());
  entry.set = [=](Options& options, const std::string& text) {
    const auto number = base::parse_number<Number>(text);
    if (!number || std::cmp_less(*number, low)) return false;
    if (high != unbounded && std::cmp_greater(*number, high)) return false;
    std::invoke(field, options) = *number;
    return true;
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", std::invoke(field, options)); };
  return entry;
}

/// Real number, at most largest_real in size, for which `fits` holds; `expected` says the same in words.
template <typename Field, typename Fits>
OptionEntry real(std::string name, std::string description, Field field, std::string expected, Fits fits) {
  OptionEntry entry = entry_named(std::move(name), "X", std::move(description), std::move(expected));
  entry.set = [=](Options& options, const std::string& text) {
    const auto number = base::parse_number<double>(text);
    if (!number || !(std::abs(*number) <= largest_real) || !fits(*number)) return false;
    std::invoke(field, options) = *number;
    return true;
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", std::invoke(field, options)); };
  return entry;
}

template <typename Field>
OptionEntry not_negative(std::string name, std::string description, Field field) {
  return real(std::move(name), std::move(description), field, "a number from 0 to 1e15",
              [](double x) { return x >= 0; });
}

template <typename Field>
OptionEntry positive(std::string name, std::string description, Field field) {
  return real(std::move(name), std::move(description), field, "a number above 0, at most 1e15",
              [](double x) { return x > 0; });
}

/// A share of the whole: 0 is allowed, 1 is not (nothing would be left).
template <typename Field>
OptionEntry share(std::string name, std::string description, Field field) {
  return real(std::move(name), std::move(description), field, "a number from 0 to below 1",
              [](double x) { return x >= 0 && x < 1; });
}

/// One of several names, each of which stands for a value.
template <typename Field>
OptionEntry choice(std::string name, std::string description, Field field,
                   const std::vector<std::pair<std::string, ValueOf<Field>>>& values) {
  std::vector<std::string> names;
  for (const auto& [text, value] : values) names.push_back(text);
  OptionEntry entry =
      entry_named(std::move(name), "NAME", fmt::format("{}. One of {}", description, fmt::join(names, ", ")),
                  names.size() == 1 ? names.front() : fmt::format("one of {}", fmt::join(names, ", ")));
  entry.set = [=](Options& options, const std::string& text) {
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& pair) { return pair.first == text; });
    if (found == values.end()) return false;
    std::invoke(field, options) = found->second;
    return true;
  };
  entry.get = [=](const Options& options) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& pair) { return pair.second == std::invoke(field, options); });
    return found == values.end() ? std::string() : found->first;
  };
  return entry;
}

/// One of several names, which are the values themselves.
template <typename Field>
OptionEntry one_of(std::string name, std::string description, Field field, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& text : names) values.emplace_back(text, text);
  return choice(std::move(name), std::move(description), field, values);
}

/// A path or a name, kept as given.
template <typename Field>
OptionEntry path(std::string name, std::string placeholder, std::string description, Field field) {
  OptionEntry entry = entry_named(std::move(name), std::move(placeholder), std::move(description), "a path");
  entry.set = [=](Options& options, const std::string& text) {
    std::invoke(field, options) = text;
    return !text.empty();
  };
  entry.get = [=](const Options& options) { return std::string(std::invoke(field, options)); };
  return entry;
}

/// A path that is recorded as absolute, so that a run can be resumed from another working directory.
template <typename Field>
OptionEntry absolute_path(std::string name, std::string placeholder, std::string description, Field field) {
  auto entry = path(std::move(name), std::move(placeholder), std::move(description), field);
  entry.set = [=](Options& options, const std::string& text) {
    if (text.empty()) return false;
    const std::filesystem::path path = std::filesystem::absolute(text);
    const bool goes_up = std::ranges::count(path, "..") > 0;  // from where a link before it leads
    std::invoke(field, options) =
        (goes_up ? std::filesystem::weakly_canonical(path) : path.lexically_normal()).string();
    return true;
  };
  return without_default(entry);
}

/// A path that may be given more than once.
template <typename Field>
OptionEntry paths(std::string name, std::string placeholder, std::string description, Field field) {
  OptionEntry entry = entry_named(std::move(name), std::move(placeholder), std::move(description), "a path");
  entry.shows_default = false;
  entry.repeatable = true;
  entry.set = [=](Options& options, const std::string& text) {
    std::invoke(field, options).push_back(text);
    return !text.empty();
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", fmt::join(std::invoke(field, options), ",")); };
  return entry;
}

/// Names separated by commas.
template <typename Field>
OptionEntry names(std::string name, std::string description, Field field) {
  OptionEntry entry =
      entry_named(std::move(name), "NAMES", std::move(description), "one name, or several with commas between them");
  entry.shows_default = false;
  entry.set = [=](Options& options, const std::string& text) {
    std::istringstream list(text);
    std::invoke(field, options).clear();
    for (std::string part; std::getline(list, part, ',');) {
      if (part.empty()) return false;
      std::invoke(field, options).push_back(part);
    }
    return !std::invoke(field, options).empty();
  };
  entry.get = [=](const Options& options) { return fmt::format("{}", fmt::join(std::invoke(field, options), ",")); };
  return entry;
}

/// A truth value; the name alone makes it true.
template <typename Field>
OptionEntry flag(std::string name, std::string description, Field field) {
  OptionEntry entry = entry_named(std::move(name), "", std::move(description), "true or false");
  entry.shows_default = false;
  entry.set = [=](Options& options, const std::string& text) {
    std::invoke(field, options) = text == "true";
    return text == "true" || text == "false";
  };
  entry.get = [=](const Options& options) { return std::string(std::invoke(field, options) ? "true" : "false"); };
  return entry;
}

/// --checkpoint: one checkpoint of a run.
template <typename Field>
OptionEntry checkpoint(std::string description, Field field) {
  OptionEntry entry = entry_named("checkpoint", "NAME", std::move(description), "latest, best or update-N");
  entry.set = [=](Options& options, const std::string& text) {
    const std::string prefix = "update-";
    const bool numbered = text.starts_with(prefix) && base::parse_number<std::uint32_t>(text.substr(prefix.size()));
    if (text != "latest" && text != "best" && !numbered) return false;
    std::invoke(field, options) = text;
    return true;
  };
  entry.get = [=](const Options& options) { return std::invoke(field, options); };
  return entry;
}

}  // namespace ut::launcher::option_groups
