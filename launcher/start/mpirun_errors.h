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

  /// Takes bytes as they come; returns those to be passed on.
  std::string pass_on(std::string_view bytes);
  /// At the end: what still waited for the end of its line or paragraph, and what was held back if nobody told the
  /// cause.
  std::string rest();
  /// The rank that a signal ended, if mpirun has said so.
  const std::optional<Ended>& ended_by_signal() const { return ended_; }
  /// Whether Open MPI has said that it cannot go on. It does not always end then.
  bool has_given_up() const { return has_given_up_; }
  /// Whether mpirun has said that a rank ended by itself, with an exit code other than 0.
  bool a_rank_has_ended() const { return rank_has_ended_; }
  /// Whether a rank has said why the job ends.
  bool has_told_cause() const { return told_; }

 private:
  std::string take_line(const std::string& line);
  std::string hold_back(const std::string& line);
  std::string end_paragraph();

  std::string line_;  // not ended yet
  bool in_paragraph_ = false;
  std::string paragraph_;
  std::string held_back_;
  bool told_ = false;       // the cause, in a line of ours
  bool rank_told_ = false;  // what happened to a rank
  bool has_given_up_ = false;
  bool rank_has_ended_ = false;
  std::optional<Ended> ended_;
};

}  // namespace ut::launcher
