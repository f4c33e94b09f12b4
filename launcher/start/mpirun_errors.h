#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ut::launcher {

/// Filters what mpirun and the ranks say on standard error. Leaves out the paragraphs that mpirun adds about how ranks
/// ended: `ut` tells that in one line, and learns here what only mpirun knows. Holds back what Open MPI's own layers
/// report of broken connections, and passes it on only if nobody says why the job ended. Of ranks that fail at once,
/// one is heard.
class MpirunErrors {
 public:
  struct Ended {
    int rank;
    std::string host;
  };
  /// What has been said of the end.
  struct Told {
    std::optional<Ended> ended_by_signal = {};
    bool cause = false;           // why the job ends, in a line of ours
    bool has_given_up = false;    // Open MPI cannot go on; it does not always end then
    bool rank_has_ended = false;  // by itself, with an exit code other than 0
  };

  /// Takes bytes as they come; returns those to be passed on.
  std::string pass_on(std::string_view bytes);
  /// At the end: what still waited for the end of its line or paragraph, and what was held back if nobody told the
  /// cause.
  std::string rest();
  const Told& told() const { return told_; }

 private:
  std::string take_line(const std::string& line);
  std::string hold_back(const std::string& line);
  std::string end_paragraph();

  std::string line_;  // not ended yet
  bool in_paragraph_ = false;
  std::string paragraph_;
  std::string held_back_;
  bool rank_told_ = false;  // what happened to a rank
  Told told_;
};

}  // namespace ut::launcher
