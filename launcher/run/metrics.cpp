#include "launcher/run/metrics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"

namespace ut::launcher {
namespace {

std::runtime_error cannot_write(const std::filesystem::path& path) {
  return std::runtime_error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
}

/// Whether the line is a whole record of an update that is kept.
bool is_kept(const std::string& line, std::int64_t update) {
  const auto record = base::parse_json(line);
  if (!record.is_object()) return false;
  const auto found = record.find("update");
  return found == record.end() || (found->is_number() && found->get<std::int64_t>() <= update);
}

}  // namespace

void truncate_after(const std::filesystem::path& path, std::int64_t update) {
  if (!std::filesystem::exists(path)) return;
  const std::string content = base::read_file(path);
  std::string kept;
  for (std::size_t begin = 0; begin < content.size();) {
    const auto end = content.find('\n', begin);
    if (end == std::string::npos) break;  // torn: the kill came before its end was written
    const auto line = content.substr(begin, end - begin);
    if (is_kept(line, update)) kept += line + '\n';
    begin = end + 1;
  }
  if (kept != content) base::write_file_whole(path, kept);
}

std::optional<std::int64_t> last_update(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::optional<std::int64_t> last;
  for (std::string line; std::getline(file, line);) {
    const auto record = base::parse_json(line);
    const auto found = record.is_object() ? record.find("update") : record.end();
    if (found != record.end() && found->is_number_integer()) last = found->get<std::int64_t>();
  }
  return last;
}

MetricsLog::MetricsLog(std::filesystem::path path, std::int64_t update) : path_(std::move(path)) {
  truncate_after(path_, update);
  constexpr mode_t as_the_umask_says = 0666;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, as_the_umask_says);
  if (descriptor_ < 0) throw cannot_write(path_);
}

bool MetricsLog::has(const nlohmann::ordered_json& record) const {
  return base::read_file(path_).find(record.dump() + '\n') != std::string::npos;
}

MetricsLog::~MetricsLog() { ::close(descriptor_); }

void MetricsLog::append(const nlohmann::ordered_json& record) {
  const std::string line = record.dump() + '\n';
  for (std::size_t written = 0; written < line.size();) {
    const auto count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) throw cannot_write(path_);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
}

}  // namespace ut::launcher
