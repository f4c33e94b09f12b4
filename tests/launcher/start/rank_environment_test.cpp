#include "launcher/start/rank_environment.h"

#include <gtest/gtest.h>

#include <map>

#include "launcher/start/terminal_columns.h"

namespace ut::launcher {
namespace {

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

void expect_rank(std::map<std::string, std::string> variables, std::int64_t rank, std::int64_t world) {
  const auto found = find_rank_environment(environment_of(std::move(variables)));
  EXPECT_TRUE(found.is_rank);
  EXPECT_EQ(found.rank, rank);
  EXPECT_EQ(found.world, world);
}

TEST(RankEnvironment, SaysTheNumberAmongTheRanksOfAHost) {
  const auto local = [](std::map<std::string, std::string> variables) {
    return find_rank_environment(environment_of(std::move(variables))).local_rank;
  };
  EXPECT_EQ(local({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"PMIX_RANK", "5"}}), 1);
  EXPECT_EQ(local({{"PMIX_RANK", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "3"}}), 3);
  EXPECT_EQ(local({{"PMI_RANK", "5"}, {"MPI_LOCALRANKID", "2"}}), 2);
  EXPECT_EQ(local({{"PMI_RANK", "5"}}), 0);
  EXPECT_EQ(local({}), 0);
}

TEST(RankEnvironment, IsThatOfMpirunOrSrun) {
  expect_rank({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}}, 1, 4);
  expect_rank({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}}, 2, 3);
  expect_rank({{"PMIX_RANK", "5"}}, 5, 0);
  expect_rank({{"PMIX_RANK", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "0"}}, 5, 8);
  expect_rank({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_ID", "3"}}, 1, 2);
}

TEST(RankEnvironment, IsNotThatOfVariablesLeftFromSomethingElse) {
  EXPECT_FALSE(
      find_rank_environment(environment_of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}})).is_rank);
  EXPECT_TRUE(find_rank_environment(environment_of({{"PMIX_RANK", "1"}})).speaks()) << "there may be no rank 0";
  EXPECT_FALSE(find_rank_environment(environment_of({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}})).speaks());
}

TEST(RankEnvironment, CannotMeetOthersUnderSrunWithoutPmix) {
  const auto can_meet = [](std::map<std::string, std::string> variables) {
    variables.insert({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_ID", "0"}});
    return find_rank_environment(environment_of(std::move(variables))).can_meet;
  };
  EXPECT_FALSE(can_meet({}));
  EXPECT_FALSE(can_meet({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}));
  EXPECT_TRUE(can_meet({{"PMIX_RANK", "1"}}));
  EXPECT_TRUE(find_rank_environment(environment_of({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}})).can_meet);
  EXPECT_TRUE(can_meet({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}})) << "another mpirun in a step of srun";
}

/// The shell of srun --pty bash is one; ranks that are started in it are as many as their starter says.
TEST(RankEnvironment, IsNotThatOfTheOnlyTaskOfSrun) {
  const std::map<std::string, std::string> alone = {
      {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_ID", "0"}};
  const auto with = [&](std::map<std::string, std::string> variables) {
    variables.insert(alone.begin(), alone.end());
    return variables;
  };
  for (const std::map<std::string, std::string>& sets :
       {alone, with({{"PMIX_RANK", "0"}}), with({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}})}) {
    EXPECT_FALSE(find_rank_environment(environment_of(sets)).is_rank);
    EXPECT_TRUE(find_rank_environment(environment_of(sets)).is_only_task);
  }
  expect_rank(with({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), 1, 2);
  for (const char* world : {"1", "2"})
    expect_rank(with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", world}, {"PMIX_RANK", "0"}}), 0,
                std::stoi(world));
}

TEST(RankEnvironment, IsNotABatchScriptsShell) {
  EXPECT_FALSE(find_rank_environment(environment_of({})).is_rank);
  EXPECT_FALSE(find_rank_environment(environment_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}})).is_rank);
  for (const auto* step : {"4294967290", "4294967291"})  // salloc's shell, a batch script's
    EXPECT_FALSE(find_rank_environment(
                     environment_of({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_ID", step}}))
                     .is_rank);
}

TEST(TerminalColumns, AreWhatTheParentSaw) {
  EXPECT_EQ(terminal_columns(environment_of({{"UT_TERMINAL", "120"}, {"OMPI_COMM_WORLD_RANK", "0"}})), 120);
  EXPECT_EQ(terminal_columns(environment_of({{"OMPI_COMM_WORLD_RANK", "0"}})), 0);
}

}  // namespace
}  // namespace ut::launcher
