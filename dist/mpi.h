#pragma once

#include <memory>

#include "dist/communicator.h"
#include "dist/watchdog.h"

namespace ut::dist {

/// MPI for the life of this object: initialised for calls from several threads, one at a time (autograd runs a
/// backward pass on threads of its own), and finalised at its end. At most one in a program.
class MpiSession {
 public:
  /// All that waits for other ranks is watched over by the watchdog, if one is given.
  /// Throws std::runtime_error where MPI cannot be initialised so.
  explicit MpiSession(std::shared_ptr<Watchdog> watchdog = nullptr);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// All ranks of the program. Its collectives take CPU tensors.
  std::unique_ptr<Communicator> world() const;

  /// Ends every rank of the program now, with this exit code. Does not return.
  [[noreturn]] static void abort(int exit_code);

 private:
  std::shared_ptr<Watchdog> watchdog_;
};

}  // namespace ut::dist
