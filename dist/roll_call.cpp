#include "dist/roll_call.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "dist/mpi_error.h"

namespace ut::dist {
namespace {

constexpr int question = 1;
constexpr int answer = 2;

std::vector<std::string> hosts_of_ranks(MPI_Comm world, int ranks) {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME + 1>;
  Name mine{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(mine.data(), &length), "MPI_Get_processor_name");
  std::vector<Name> all(static_cast<std::size_t>(ranks));
  check_mpi(MPI_Allgather(mine.data(), sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, world),
            "MPI_Allgather");
  std::vector<std::string> hosts;
  for (const Name& name : all) hosts.emplace_back(name.data());
  return hosts;
}

}  // namespace

RollCall::RollCall(MPI_Comm world, const Watchdog& watchdog) : watchdog_(watchdog) {
  check_mpi(MPI_Comm_dup(world, &world_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int ranks = 0;
  check_mpi(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(world_, &ranks), "MPI_Comm_size");
  hosts_ = hosts_of_ranks(world_, ranks);
}

void RollCall::look() {
  const auto waited = watchdog_.waited();
  if (waited.count() == 0) return;
  hear();
  constexpr std::chrono::milliseconds time_to_answer{3000};
  if (waited >= watchdog_.limit() - std::min(time_to_answer, watchdog_.limit() / 2)) ask();
}

void RollCall::hear() {
  while (true) {
    int there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_, &there, &status), "MPI_Iprobe");
    if (there == 0) return;
    std::uint64_t wait = 0;
    check_mpi(MPI_Recv(&wait, 1, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, world_, MPI_STATUS_IGNORE),
              "MPI_Recv");
    if (status.MPI_TAG == question) {
      send(wait, status.MPI_SOURCE, answer);
    } else if (const std::scoped_lock lock(mutex_); wait == asked_in_) {
      present_.at(static_cast<std::size_t>(status.MPI_SOURCE)) = true;
    }
  }
}

void RollCall::ask() {
  const std::uint64_t wait = watchdog_.wait();
  {
    const std::scoped_lock lock(mutex_);
    if (wait == asked_in_) return;
    asked_in_ = wait;
    present_.assign(hosts_.size(), false);
    present_.at(static_cast<std::size_t>(rank_)) = true;
  }
  for (int rank = 0; rank < static_cast<int>(hosts_.size()); ++rank)
    if (rank != rank_) send(wait, rank, question);
}

void RollCall::send(std::uint64_t wait, int rank, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(&sent_.emplace_back(wait), 1, MPI_UINT64_T, rank, tag, world_, &request), "MPI_Isend");
  check_mpi(MPI_Request_free(&request), "MPI_Request_free");
}

std::optional<std::vector<AbsentRank>> RollCall::absent() const {
  const std::scoped_lock lock(mutex_);
  if (asked_in_ != watchdog_.wait()) return std::nullopt;
  std::vector<AbsentRank> absent;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    if (!present_[rank]) absent.push_back({static_cast<int>(rank), hosts_[rank]});
  return absent;
}

void wait_for(std::span<MPI_Request> requests, RollCall* roll_call) {
  int done = 0;
  while (true) {
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    if (done != 0) return;
    if (roll_call != nullptr) roll_call->look();
  }
}

void wait_for_all_ranks(MPI_Comm group, RollCall* roll_call) {
  MPI_Request all_here = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(group, &all_here), "MPI_Ibarrier");
  wait_for({&all_here, 1}, roll_call);
}

void RollCall::end() {
  wait_for_all_ranks(world_, this);
  check_mpi(MPI_Comm_free(&world_), "MPI_Comm_free");
}

}  // namespace ut::dist
