#include "launcher/start/mpirun_errors.h"

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

namespace ut::launcher {
namespace {

/// Open MPI puts its messages between lines of dashes.
bool is_rule(std::string_view line) {
  constexpr std::size_t dashes = 74;
  return line.size() == dashes && std::ranges::all_of(line, [](char letter) { return letter == '-'; });
}

/// Whether the message says that and how ranks ended, or that several said the same.
bool is_about_the_end(const std::string& text) {
  constexpr std::array beginnings{"Primary job  terminated",     "mpirun noticed that",
                                  "mpirun detected that",        "prterun noticed that",
                                  "prterun detected that",       "prterun has exited due to",
                                  "MPI_ABORT was invoked",       "A process or daemon was unable to complete",
                                  "ORTE has lost communication", "PRTE has lost communication"};
  return std::ranges::any_of(beginnings, [&](const char* beginning) { return text.starts_with(beginning); });
}

/// Whether one of our lines is a warning that ranks print as they start, and that ends nothing.
bool is_warning(const std::string& line) {
  return line.starts_with("ut: LibTorch: ") || line.starts_with("ut: this host has GPUs, but ");
}

/// Whether the line begins with something like `[host:1234] ` or `[host][[1,1],0][`, as the lines of Open MPI's layers
/// do.
bool is_of_open_mpi(const std::string& line) {
  static const std::regex beginning("\\[[^\\]:]+(:[0-9]+\\] |\\]\\[\\[[0-9]+,[0-9]+\\],[0-9]+\\]\\[)");
  return std::regex_search(line, beginning, std::regex_constants::match_continuous);
}

}  // namespace

std::string MpirunErrors::pass_on(std::string_view bytes) {
  std::string passed;
  for (const char letter : bytes) {
    if (letter == '\0') continue;  // Open MPI 5 adds some
    line_ += letter;
    if (letter == '\n') passed += take_line(std::exchange(line_, {}));
  }
  return passed;
}

std::string MpirunErrors::rest() {
  std::string passed = in_paragraph_ ? end_paragraph() : std::string();
  if (!told_.cause && !told_.ended_by_signal) passed += held_back_;
  held_back_.clear();
  return passed + std::exchange(line_, {});
}

std::string MpirunErrors::take_line(const std::string& line) {
  if (is_rule(std::string_view(line).substr(0, line.size() - 1))) {
    if (in_paragraph_) return end_paragraph();
    in_paragraph_ = true;
    return {};
  }
  if (in_paragraph_) {
    paragraph_ += line;
    return {};
  }
  if (line.starts_with("mpirun: Forwarding signal")) return {};
  if (line.starts_with("ut: rank ") && std::exchange(rank_told_, true)) return {};  // all have failed at once
  if (line.starts_with("ut: ") && !is_warning(line)) told_.cause = true;
  for (const char* end : {"MPI_ERRORS_ARE_FATAL", "PMIX ERROR: OUT-OF-RESOURCE"})
    if (line.find(end) != std::string::npos) told_.has_given_up = true;
  return is_of_open_mpi(line) ? hold_back(line) : line;
}

std::string MpirunErrors::hold_back(const std::string& line) {
  constexpr std::size_t most = 1 << 14;
  held_back_ += line;
  return held_back_.size() > most ? std::exchange(held_back_, {}) : std::string();
}

std::string MpirunErrors::end_paragraph() {
  in_paragraph_ = false;
  const std::string text = std::exchange(paragraph_, {});
  static const std::regex ended("process rank ([0-9]{1,9}) with PID [0-9]+ on node (\\S+) exited on\\s+signal");
  std::smatch found;
  if (!told_.ended_by_signal && std::regex_search(text, found, ended))
    told_.ended_by_signal = {std::stoi(found[1]), found[2]};
  for (const char* ended_with_code : {"Primary job  terminated", "prterun detected that one or more processes exited"})
    told_.rank_has_ended = told_.rank_has_ended || text.starts_with(ended_with_code);
  return is_about_the_end(text) ? std::string() : text;
}

}  // namespace ut::launcher
