#include "dist/roll_call.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include "dist/mpi_error.h"

namespace ut::dist {
namespace {

constexpr int question = 1;
constexpr int answer = 2;

std::vector<std::string> hosts_of_ranks(const std::string& host, MPI_Comm world, int ranks) {
  using Name = std::array<char, 256>;
  Name mine{};
  host.copy(mine.data(), mine.size() - 1);
  std::vector<Name> all(static_cast<std::size_t>(ranks));
  check_mpi(MPI_Allgather(mine.data(), sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, world),
            "MPI_Allgather");
  std::vector<std::string> hosts;
  for (const Name& name : all) hosts.emplace_back(name.data());
  return hosts;
}

}  // namespace

RollCall::RollCall(const std::string& host, MPI_Comm world, const Watchdog& watchdog) : watchdog_(watchdog) {
  check_mpi(MPI_Comm_dup(world, &world_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int ranks = 0;
  check_mpi(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(world_, &ranks), "MPI_Comm_size");
  hosts_ = hosts_of_ranks(host, world_, ranks);
  sent_.resize(hosts_.size());
}

void RollCall::poll() {
  const auto waited = watchdog_.waited();
  if (waited.count() == 0) return;
  while (const auto heard = next_message()) take(*heard);
  constexpr std::chrono::milliseconds time_to_answer{3000};
  if (waited >= watchdog_.limit() - std::min(time_to_answer, watchdog_.limit() / 2)) ask();
}

std::optional<RollCall::Message> RollCall::next_message() {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  Message message{status.MPI_SOURCE, status.MPI_TAG, 0};
  check_mpi(MPI_Recv(&message.wait, 1, MPI_UINT64_T, message.rank, message.tag, world_, MPI_STATUS_IGNORE), "MPI_Recv");
  ++received_;
  return message;
}

void RollCall::take(const Message& message) {
  if (message.tag == question) return send(message.wait, message.rank, answer);
  const std::scoped_lock lock(mutex_);
  if (message.wait == asked_in_) present_.at(static_cast<std::size_t>(message.rank)) = true;
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
  if (MPI_Isend(&on_way_.emplace_back(wait), 1, MPI_UINT64_T, rank, tag, world_, &request) != MPI_SUCCESS)
    return;  // a rank that cannot be reached does not answer
  ++sent_.at(static_cast<std::size_t>(rank));
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
  const auto count = static_cast<int>(requests.size());
  if (roll_call == nullptr) return check_mpi(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  for (int done = 0; done == 0;) {
    check_mpi(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done == 0) roll_call->poll();
  }
}

void wait_for_all_ranks(MPI_Comm group, RollCall* roll_call) {
  MPI_Request all_here = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(group, &all_here), "MPI_Ibarrier");
  wait_for({&all_here, 1}, roll_call);
}

void RollCall::end() {
  wait_for_all_ranks(world_, this);
  std::vector<int> to_come(hosts_.size());
  check_mpi(MPI_Alltoall(sent_.data(), 1, MPI_INT, to_come.data(), 1, MPI_INT, world_), "MPI_Alltoall");
  const int all = std::accumulate(to_come.begin(), to_come.end(), 0);
  while (received_ < all) next_message();  // left over from waits that have ended
  check_mpi(MPI_Comm_free(&world_), "MPI_Comm_free");
}

}  // namespace ut::dist
