#include "launcher/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "launcher/process/readable.h"

namespace ut::launcher {
namespace {

using std::chrono::steady_clock;

constexpr auto between_rewrites = std::chrono::milliseconds(100);
constexpr auto between_lines = std::chrono::seconds(3);

}  // namespace

std::string human_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e9) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole % 86400 / 3600);
}

std::string progress_line(const ShownUpdate& report, std::optional<double> seconds_left, std::size_t columns) {
  const auto last = std::to_string(report.max_updates);
  auto line = fmt::format("update {:>{}}/{}", report.update, last.size(), last);
  const auto add = [&line, columns](const std::string& field) {
    if (line.size() + field.size() <= columns) line += field;
  };
  add(fmt::format("  loss {:<8.4g}", report.loss));
  add(fmt::format("  {:>6} rows/s", readable_count(report.rows_per_second)));
  if (report.ponder) add(fmt::format("  ponder {:.2f}", *report.ponder));
  if (seconds_left) add(fmt::format("  eta {:<6}", human_duration(*seconds_left)));
  if (report.score) add(fmt::format("  best {:.4f}", *report.score));
  add(fmt::format("  lr {:.1e}", report.learning_rate));
  add(fmt::format("  grad {:.2g}", report.gradient_norm));
  return line.substr(0, columns);
}

Progress::Progress(std::ostream& out, std::int64_t columns, bool quiet, Clock clock)
    : out_(out), columns_(columns), quiet_(quiet), clock_(std::move(clock)) {}

Progress::~Progress() {
  if (line_is_open_) out_ << '\n' << std::flush;
}

void Progress::report(const ShownUpdate& report, bool last) {
  if (quiet_) return;
  const auto now = clock_();
  if (!first_at_) {
    first_at_ = now;
    first_update_ = report.update;
  }
  const bool terminal = columns_ > 0;
  const steady_clock::duration pause = terminal ? steady_clock::duration(between_rewrites) : between_lines;
  if (shown_at_ && !last && now - *shown_at_ < pause) return;
  shown_at_ = now;
  clear_line();
  // A line that wraps could not be rewritten, and some terminals wrap already at the last column.
  const std::size_t room = terminal ? static_cast<std::size_t>(columns_ - 1) : std::string::npos;
  const bool stays = last || !terminal;
  out_ << progress_line(report, seconds_left(report), room) << (stays ? "\n" : "") << std::flush;
  line_is_open_ = !stays;
}

void Progress::say(const std::string& message) {
  if (!quiet_) result(message);
}

void Progress::result(const std::string& message) {
  clear_line();
  out_ << message << '\n' << std::flush;
}

std::optional<double> Progress::seconds_left(const ShownUpdate& report) const {
  const auto done = report.update - first_update_;
  const auto left = report.max_updates - report.update;
  if (done <= 0 || left <= 0) return std::nullopt;
  const double seconds = std::chrono::duration<double>(*shown_at_ - *first_at_).count();
  const double needed = seconds / static_cast<double>(done) * static_cast<double>(left);
  return std::min(needed, report.seconds_allowed.value_or(needed));
}

void Progress::clear_line() {
  constexpr const char* to_start_and_erase = "\r\x1b[K";
  if (line_is_open_) out_ << to_start_and_erase;
  line_is_open_ = false;
}

}  // namespace ut::launcher
