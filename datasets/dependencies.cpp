#include "datasets/dependencies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/parse_number.h"
#include "datasets/lines.h"
#include "datasets/vocabulary.h"
#include "datasets/words.h"

namespace ut::datasets {
namespace {

constexpr std::array<std::string_view, 5> needed_columns = {"sentence", "verb_pos", "verb_index", "n_intervening",
                                                            "n_diff_intervening"};

/// False if a quotation mark is not closed.
bool split_fields(std::string_view line, std::vector<std::string>& fields) {
  for (fields.clear();;) {
    std::string& field = fields.emplace_back();
    for (bool first = true; line.starts_with('"'); first = false) {
      if (!first) field += '"';  // a doubled quotation mark
      const std::size_t end = line.find('"', 1);
      if (end == std::string_view::npos) return false;
      field += line.substr(1, end - 1);
      line.remove_prefix(end + 1);
    }
    const std::size_t end = std::min(line.find('\t'), line.size());
    field += line.substr(0, end);
    if (end == line.size()) return true;
    line.remove_prefix(end + 1);
  }
}

/// A line cut into fields, and the places of the needed columns.
class Fields {
 public:
  /// `line` names the columns.
  Fields(std::string_view line, const std::string& file) : file_(file) {
    read(line, 1);
    for (std::size_t column = 0; column < needed_columns.size(); ++column) {
      const auto found = std::ranges::find(fields_, needed_columns[column]);
      if (found == fields_.end())
        fail(fmt::format("no column {}; the first line must name the columns, with tabs between them; needed are {}",
                         needed_columns[column], fmt::join(needed_columns, ", ")));
      columns_[column] = static_cast<std::size_t>(found - fields_.begin());
    }
  }

  void read(std::string_view line, std::size_t number) {
    number_ = number;
    check_line(line, file_, number);
    if (!split_fields(line, fields_)) fail("a quotation mark is not closed");
  }
  /// Its words point into the fields.
  Dependency dependency() const {
    Dependency read;
    read.words = split_at_spaces(field(0));
    read.verb_tag = field(1);
    if (read.verb_tag != "VBZ" && read.verb_tag != "VBP")
      fail(fmt::format("verb_pos is '{}', not VBZ or VBP", field(1)));
    const auto place = static_cast<std::size_t>(count(2));
    if (place == 0 || place > read.words.size())
      fail(
          fmt::format("verb_index is {}; words are counted from 1, and the sentence has {}", place, read.words.size()));
    read.verb = place - 1;
    read.nouns = count(3);
    read.attractors = count(4);
    check_words(read.words, file_, number_);
    return read;
  }

 private:
  std::string_view field(std::size_t column) const {
    if (columns_[column] >= fields_.size())
      fail(fmt::format("{} fields, but {} is column {}", fields_.size(), needed_columns[column], columns_[column] + 1));
    return fields_[columns_[column]];
  }
  std::int64_t count(std::size_t column) const {
    const auto count = base::parse_number<std::uint32_t>(field(column));
    if (!count) fail(fmt::format("{} is '{}', not a count", needed_columns[column], field(column)));
    return *count;
  }
  [[noreturn]] void fail(const std::string& what) const { throw base::BadInput("{}:{}: {}", file_, number_, what); }

  std::string file_;
  std::size_t number_ = 0;
  std::vector<std::string> fields_;
  std::array<std::size_t, needed_columns.size()> columns_{};
};

/// Possible plural forms of a verb.
std::vector<std::string> plurals(const std::string& singular) {
  if (singular == "is") return {"are"};
  if (singular == "has") return {"have"};
  std::vector<std::string> forms;
  for (const auto& [end, instead] : {std::pair("s", ""), std::pair("es", ""), std::pair("ies", "y")})
    if (singular.ends_with(end))
      forms.push_back(singular.substr(0, singular.size() - std::string_view(end).size()) + instead);
  return forms;
}

std::vector<std::string> singulars(const std::string& plural) {
  if (plural == "are") return {"is"};
  if (plural == "have") return {"has"};
  std::vector<std::string> forms = {plural + "s", plural + "es"};
  if (plural.ends_with('y')) forms.push_back(plural.substr(0, plural.size() - 1) + "ies");
  return forms;
}

}  // namespace

void for_each_dependency(std::string_view content, const std::string& file,
                         const std::function<void(std::string_view line, const Dependency&)>& use) {
  std::optional<Fields> fields;
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    if (!fields) {
      fields.emplace(line, file);
    } else {
      fields->read(line, number);
      use(line, fields->dependency());
    }
  });
}

VerbForms::VerbForms(std::string_view content, const std::string& file) {
  for_each_dependency(content, file, [this](std::string_view, const Dependency& dependency) {
    (dependency.verb_tag == "VBZ" ? singular_ : plural_).emplace(dependency.words[dependency.verb]);
  });
}

std::pair<std::string, std::string> VerbForms::right_and_wrong(const Dependency& dependency) const {
  const std::string verb(dependency.words[dependency.verb]);
  const bool is_singular = dependency.verb_tag == "VBZ";
  for (const std::string& other : is_singular ? plurals(verb) : singulars(verb))
    if ((is_singular ? plural_ : singular_).contains(other)) return {verb, other};
  return {std::string(dependency.verb_tag), std::string(other_tag(dependency.verb_tag))};
}

std::string_view other_tag(std::string_view tag) { return tag == "VBZ" ? "VBP" : "VBZ"; }

}  // namespace ut::datasets
