#include "launcher/doctor/findings_of_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

using testing::ElementsAre;

std::vector<std::string> seen_in(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(finding.subject + " " + finding.seen);
  return lines;
}

TEST(FindingsOfRanks, AFaultOfAnotherHostIsSaidOnceWithItsHosts) {
  const Finding mpi{"MPI", "4.1.4", ""};
  const Finding gpus{"GPUs", "8", ""};
  const Finding wrong{"MPI", "4.1.4, but mpirun is version 5.0.0", "put the right one first"};
  const Finding none{"GPUs", "8; CUDA sees none", "look at nvidia-smi"};
  const Finding fewer{"GPUs", "4; CUDA sees none", "look at nvidia-smi"};
  const Hosts hosts{{"n1", "n2", "n3"}, {0, 1, 1, 2}};
  const auto merged = merge_findings({{mpi, gpus}, {mpi, none}, {wrong, none}, {mpi, fewer}}, hosts);
  EXPECT_THAT(seen_in(merged), ElementsAre("MPI 4.1.4", "GPUs 8", "GPUs n2, n3: 8; CUDA sees none",
                                           "MPI n2: 4.1.4, but mpirun is version 5.0.0"));
  EXPECT_EQ(merged.back().remedy, wrong.remedy);
}

TEST(FindingsOfRanks, AFaultOfAllRanksIsSaidOnceWithTheirHosts) {
  const Finding none{"MPI", "no mpirun", "install it"};
  const Hosts hosts{{"n1", "n2", "n3", "n4", "n5", "n6"}, {0, 0, 1, 2, 3, 4, 5}};
  EXPECT_THAT(seen_in(merge_findings(std::vector<std::vector<Finding>>(7, {none}), hosts)),
              ElementsAre("MPI n1, n2, n3, n4 and 2 more: no mpirun"));
  EXPECT_THAT(seen_in(merge_findings({{none}, {none}}, {{"n1"}, {0, 0}})), ElementsAre("MPI no mpirun"));
}

}  // namespace
}  // namespace ut::launcher
