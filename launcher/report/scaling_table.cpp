#include "launcher/report/scaling_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/parse_number.h"

namespace ut::launcher {
namespace {

using nlohmann::ordered_json;

/// A line's cells. A cell with commas in it stands in quotes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

ordered_json value_of(const std::string& cell) {
  if (cell.empty()) return nullptr;
  const auto number = base::parse_number<double>(cell);
  return number ? ordered_json(*number) : ordered_json(cell);
}

}  // namespace

ordered_json read_scaling_table(const std::filesystem::path& file) {
  constexpr const char* needed = "a scaling.csv as cluster/scaling.sh writes it";
  std::istringstream stream{std::string(base::without_byte_order_mark(base::read_file(file, "--scaling", needed)))};
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> columns = cells_of(line);
  for (const char* column : {"kind", "size", "ranks", "exchange", "efficiency"})
    if (std::ranges::find(columns, column) == columns.end())
      throw base::BadInput("--scaling {}: has no column {}; needs {}", file.string(), column, needed);
  ordered_json rows = ordered_json::array();
  for (int number = 2; std::getline(stream, line); ++number) {
    if (line.empty() || line == "\r") continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != columns.size())
      throw base::BadInput("{} line {}: {} cells, needs {}", file.string(), number, cells.size(), columns.size());
    ordered_json row;
    for (std::size_t column = 0; column < columns.size(); ++column) row[columns[column]] = value_of(cells[column]);
    if (const auto& ranks = row["ranks"]; !ranks.is_number())
      throw base::BadInput("--scaling {} line {}: {} ranks, needs a number", file.string(), number,
                           base::json_line(ranks));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ut::launcher
