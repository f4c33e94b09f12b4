#include "launcher/run/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/json.h"

namespace ut::launcher {
namespace {

/// Whether the line is a whole record of an update that is kept.
bool is_kept(std::string_view line, std::int64_t update) {
  const auto record = base::parse_json(line);
  if (!record.is_object()) return false;
  const auto is_early = [update](const nlohmann::json& of) {
    return of.is_number() && of.get<std::int64_t>() <= update;
  };
  if (const auto all = record.find("updates"); all != record.end()) return std::ranges::all_of(*all, is_early);
  const auto found = record.find("update");
  return found == record.end() || is_early(*found);
}

bool agrees(const nlohmann::ordered_json& recorded, const nlohmann::ordered_json& value) {
  if (!value.is_number_float()) return recorded == value;
  const auto number = value.get<double>();
  if (!recorded.is_number()) return recorded.is_null() && !std::isfinite(number);
  return std::abs(recorded.get<double>() - number) <= 1e-3 * std::abs(number);
}

/// The path, after truncate_after().
std::filesystem::path truncated(std::filesystem::path path, std::int64_t update) {
  truncate_after(path, update);
  return path;
}

}  // namespace

void truncate_after(const std::filesystem::path& path, std::int64_t update) {
  if (!std::filesystem::exists(path)) return;
  std::string content = base::read_file(path);
  const std::size_t size = content.size();
  std::size_t kept = 0;  // the letters at the front, to which lines that are kept move
  for (std::size_t begin = 0; begin < size;) {
    const auto end = content.find('\n', begin);
    if (end == std::string::npos) break;  // torn: the kill came before its end was written
    const std::string_view line(content.data() + begin, end - begin);
    if (is_kept(line, update)) {
      std::memmove(content.data() + kept, line.data(), line.size() + 1);
      kept += line.size() + 1;
    }
    begin = end + 1;
  }
  content.resize(kept);
  if (kept < size) base::write_file_whole(path, content);
}

std::optional<std::int64_t> newest_update(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::optional<std::int64_t> newest;
  for (std::string line; std::getline(file, line);) {
    const auto record = base::parse_json(line);
    const auto found = record.is_object() ? record.find("update") : record.end();
    if (found != record.end() && found->is_number_integer())
      // Not the last line's: a test's line has the update of the best model.
      newest = std::max(newest.value_or(0), found->get<std::int64_t>());
  }
  return newest;
}

MetricsLog::MetricsLog(const std::filesystem::path& path, std::int64_t update) : file_(truncated(path, update)) {}

bool MetricsLog::has_newest(const nlohmann::ordered_json& kind, const nlohmann::ordered_json& values) const {
  std::ifstream file(file_.path());
  bool has_them = false;
  for (std::string line; std::getline(file, line);) {
    const auto record = base::parse_json<nlohmann::ordered_json>(line);
    const auto has = [&record](const auto& value) {
      return record.is_object() && record.contains(value.key()) && agrees(record[value.key()], value.value());
    };
    if (std::ranges::all_of(kind.items(), has)) has_them = std::ranges::all_of(values.items(), has);
  }
  return has_them;
}

void MetricsLog::append(const nlohmann::ordered_json& record) { file_.append(base::json_line(record) + '\n'); }

}  // namespace ut::launcher
