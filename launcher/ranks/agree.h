#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "dist/communicator.h"

namespace ut::launcher {

/// Bad input that every rank knows of and throws: one of them says it, all end.
class AgreedBadInput : public base::BadInput {
 public:
  using base::BadInput::BadInput;
};

/// A failure of one rank that every rank knows of and throws: it is told as that rank's.
class FailureOfRank : public std::runtime_error {
 public:
  FailureOfRank(int rank, std::string host, const std::string& cause)
      : std::runtime_error(cause), rank_(rank), host_(std::move(host)) {}
  int rank() const { return rank_; }
  const std::string& host() const { return host_; }

 private:
  int rank_;
  std::string host_;
};

/// Runs `step` on every rank. Where it throws base::BadInput or std::filesystem::filesystem_error on any, all throw
/// AgreedBadInput with the message of the first, so that no rank goes on alone; so nothing in it may wait for other
/// ranks. Collective.
void agree(dist::Communicator& world, const std::function<void()>& step);

/// Whether it is so on any rank. Collective.
bool is_so_on_any(dist::Communicator& world, bool here);

/// Whether it is so on rank 0. Collective.
bool is_so_on_first(dist::Communicator& world, bool here);

/// Runs `work`, which meets no other rank, on rank 0 on a thread of its own, while the ranks ask one another whether it
/// is done: it may take longer than they wait. What it throws is thrown on rank 0. Collective.
void run_on_first(dist::Communicator& world, const std::function<void()>& work);

/// The same of work that may refuse its input, as agree() has it: what it throws of that kind all ranks throw.
void run_on_first_or_refuse(dist::Communicator& world, const std::function<void()>& work);

/// Returns when every rank of the group has come here. Collective.
void wait_for_all(dist::Communicator& group);

}  // namespace ut::launcher
