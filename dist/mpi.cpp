#include "dist/mpi.h"

#include <mpi.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include "dist/mpi_communicator.h"
#include "dist/mpi_error.h"
#include "dist/mpi_watch.h"

namespace ut::dist {

MpiSession::MpiSession(std::optional<Patience> patience) {
  if (patience) watch_ = std::make_shared<MpiWatch>(*std::move(patience));
  const Watchdog::Wait wait(watchdog_of(watch_), "MPI_Init");
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();  // the destructor will not run
    throw std::runtime_error("this MPI library cannot be called from more than one thread (MPI_THREAD_SERIALIZED)");
  }
  if (watch_ != nullptr) watch_->begin_roll_calls();
}

MpiSession::~MpiSession() {
  const Watchdog::Wait wait(watchdog_of(watch_), "MPI_Finalize");
  try {
    if (RollCall* roll_call = roll_call_of(watch_)) roll_call->end();
  } catch (const std::exception&) {
    watch_->roll_call = nullptr;  // no more roll calls: all work is done
  }
  MPI_Finalize();
}

std::unique_ptr<Communicator> MpiSession::world() const {
  const Watchdog::Wait wait(watchdog_of(watch_), "MPI_Comm_dup");
  wait_for_all_ranks(MPI_COMM_WORLD, roll_call_of(watch_));
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  return make_mpi_communicator(copy, watch_);
}

void MpiSession::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace ut::dist
