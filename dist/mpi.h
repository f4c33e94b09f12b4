#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/communicator.h"

namespace ut::dist {

struct AbsentRank {
  int rank = 0;
  std::string host;
};

/// How long a rank waits for others.
struct Patience {
  std::string host;  // where this rank runs
  std::chrono::milliseconds limit;
  /// What to do about a longer wait. Called once, from a thread of its own, with the call that waits and the ranks that
  /// do not wait as well, if they could be asked. The waiting thread is still in that call, so all that helps is to
  /// report it and to end the process.
  std::function<void(const std::string& call, const std::optional<std::vector<AbsentRank>>& absent)> late;
};

struct MpiWatch;

/// MPI for the life of this object: initialised for calls from several threads, one at a time (autograd runs a backward
/// pass on threads of its own), and finalised at the end. At most one in a program.
class MpiSession {
 public:
  /// With `patience`, every call that waits for other ranks has a deadline.
  /// Throws std::runtime_error if MPI cannot be initialised in this way.
  explicit MpiSession(std::optional<Patience> patience = {});
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// A group of all ranks of the program. Its collectives take CPU tensors. Collective.
  std::unique_ptr<Communicator> world() const;

  /// Ends every rank of the program now, with this exit code. Does not return.
  [[noreturn]] static void abort(int exit_code);

 private:
  std::shared_ptr<MpiWatch> watch_;
};

}  // namespace ut::dist
