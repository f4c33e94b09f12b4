#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

namespace ut::launcher {

/// What is shown of an update.
struct ShownUpdate {
  std::int64_t update = 0;
  std::int64_t max_updates = 0;
  double loss = 0;
  double learning_rate = 0;
  double rows_per_second = 0;
  double gradient_norm = 0;
  std::optional<double> score;            // best validation score so far
  std::optional<double> ponder;           // mean steps of a position
  std::optional<double> seconds_allowed;  // that training may still take, whatever it comes to
};

/// One line about an update, such as
/// `update  1200/5000  loss 0.0123     12.3k rows/s  ponder 3.50  eta 1m20s   best 0.9870  lr 1.0e-03  grad 0.52`.
/// Unknown values are left out, and so are fields that `columns` have no room for. Numbers keep their width from line
/// to line.
std::string progress_line(const ShownUpdate& report, std::optional<double> seconds_left,
                          std::size_t columns = std::string::npos);

/// A duration for a person: 42s, 1m20s, 2h05m, 3d04h.
std::string human_duration(double seconds);

/// Tells a person on `out` how training goes. On a terminal one line is rewritten in place; elsewhere a line comes
/// every few seconds. Everything else that is printed while this lives must go through say() or result().
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// `columns`: the terminal's width; 0 if `out` is not a terminal. `quiet`: report() and say() show nothing.
  Progress(std::ostream& out, std::int64_t columns, bool quiet, Clock clock = std::chrono::steady_clock::now);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Ends a line that is still open.
  ~Progress();

  /// Shows the update, unless another was shown a moment ago and this is neither the first nor the last.
  void report(const ShownUpdate& report, bool last);
  /// Prints a line of its own.
  void say(const std::string& message);
  /// Prints a line even when quiet: a result.
  void result(const std::string& message);

 private:
  std::optional<double> seconds_left(const ShownUpdate& report) const;
  void clear_line();

  std::ostream& out_;
  std::int64_t columns_;
  bool quiet_;
  Clock clock_;
  bool line_is_open_ = false;
  std::optional<std::chrono::steady_clock::time_point> shown_at_;
  std::optional<std::chrono::steady_clock::time_point> first_at_;
  std::int64_t first_update_ = 0;
};

}  // namespace ut::launcher
