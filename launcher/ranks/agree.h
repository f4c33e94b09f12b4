#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "dist/communicator.h"

namespace ut::launcher {

/// Bad input that every rank knows of and throws. One of them prints it, and all end.
class AgreedBadInput : public base::BadInput {
 public:
  using base::BadInput::BadInput;
};

/// A failure of one rank that every rank knows of and throws. It is reported as that rank's.
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

/// Runs `step` on every rank. If it throws base::BadInput or std::filesystem::filesystem_error on any rank, all ranks
/// throw AgreedBadInput with the message of the first such rank, so that no rank goes on alone. `step` must not wait
/// for other ranks. Collective.
void agree(dist::Communicator& world, const std::function<void()>& step);

/// Whether `here` is true on any rank. Collective.
bool is_so_on_any(dist::Communicator& world, bool here);

/// Whether `here` is true on rank 0. Collective.
bool is_so_on_first(dist::Communicator& world, bool here);

/// Runs `work`, which must not meet other ranks, on a thread of its own on rank 0. Meanwhile the ranks keep asking one
/// another whether it is done, so it may take longer than they would wait. Rank 0 throws what it throws. Collective.
void run_on_first(dist::Communicator& world, const std::function<void()>& work);

/// The same for work that may refuse its input: if it throws what agree() takes as bad input, all ranks throw that.
void run_on_first_or_refuse(dist::Communicator& world, const std::function<void()>& work);

/// Returns when every rank of the group has called it. Collective.
void wait_for_all(dist::Communicator& group);

}  // namespace ut::launcher
