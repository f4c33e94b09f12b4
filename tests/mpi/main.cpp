// Runs every test on every rank under mpirun. Tests are collective: each rank runs the same ones in the same order. If
// a test fails on any rank, the run fails on all. An exception, or an ASSERT_ that fails, would leave the other ranks
// waiting in a collective, so it ends the job at once.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "dist/mpi.h"
#include "tests/mpi/communicators.h"
#include "tests/mpi/world.h"

namespace ut::tests {
namespace {

/// MPI, from the first call to the end of the program. It can be initialised only once.
const dist::MpiSession& session() {
  static const dist::MpiSession only;
  return only;
}

/// Prints failures with their rank, and ends the job if the others would wait for this rank.
class FailurePrinter final : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

  void OnTestStart(const testing::TestInfo& test) override {
    test_ = fmt::format("{}.{}", test.test_suite_name(), test.name());
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() != nullptr ? result.file_name() : "unknown file";
    fmt::print(stderr, "rank {}: {}: {}:{}\n{}\n", rank_, test_, file, result.line_number(), result.message());
    if (result.fatally_failed()) dist::MpiSession::abort(1);
  }

 private:
  int rank_;
  std::string test_;  // kept, since GoogleTest cannot be asked while it reports
};

void choose_listeners(int rank) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailurePrinter(rank));  // GoogleTest deletes it
}

/// Throws if this run does not have the expected number of ranks. Otherwise a launcher that starts as many separate
/// one-rank runs would pass every test.
void check_ranks(const dist::Communicator& ranks) {
  const char* expected = std::getenv("UT_EXPECTED_RANKS");
  if (expected != nullptr && std::to_string(ranks.size()) == expected) return;
  throw std::runtime_error(fmt::format("UT_EXPECTED_RANKS is {}, this run has {} ranks",
                                       expected != nullptr ? expected : "not set", ranks.size()));
}

int run_on_every_rank() {
  const auto ranks = world();
  check_ranks(*ranks);
  at::set_num_threads(1);
  choose_listeners(ranks->rank());
  const std::string cases = communicator_cases_text();
  if (ranks->rank() == 0) fmt::print("{}", cases);
  const at::Tensor failed = at::full({1}, RUN_ALL_TESTS(), at::kLong);
  ranks->all_reduce_sum(failed, dist::Purpose::control);
  const bool any = failed.item<std::int64_t>() != 0;
  if (any && ranks->rank() == 0) fmt::print(stderr, "failed on one rank or more\n");
  return any ? 1 : 0;
}

}  // namespace

std::unique_ptr<dist::Communicator> world() { return session().world(); }

}  // namespace ut::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  GTEST_FLAG_SET(catch_exceptions, false);
  try {
    return ut::tests::run_on_every_rank();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());

    ut::dist::MpiSession::abort(1);
  }
}
