// The program as users run it: training under their own mpirun, evaluation, decoding and scoring.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "tests/program/addition.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using testing::HasSubstr;

const std::string smallest_bench = "bench --d-model 16 --heads 2 --ffn 16 --steps 1 --length 4 --iterations 1 ";

class Running : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(Running, KeepsOutputOutOfItsFilesWithoutStandardStreams) {
  const std::string run = directory_ / "run";
  const Outcome closed = run_shell("$UT " + addition(2) + "--run-dir " + run + " <&- >&- 2>&-");
  EXPECT_EQ(closed.exit_code, 1) << "what it says cannot be written";
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl").front(), '{');
  EXPECT_EQ(losses_of(run).size(), 2);
  for (const std::string& ranks : {std::string("1"), std::string("2")})
    expect_refused(run_shell("timeout 60 $UT decode --ranks " + ranks + " --run-dir " + run + " <&-"),
                   HasSubstr("standard input: cannot be read: "));
}

TEST_F(Running, GoesOnIfNobodyReadsItsOutput) {
  for (const std::string ranks : {"1", "2 --sequence-parallel 1"}) {
    const std::string run = directory_ / ("run-" + ranks);
    const Outcome unread = run_shell("{ $UT " + addition(40) + "--ranks " + ranks + " --run-dir '" + run +
                                     "'; echo $? >'" + run + "/code'; } | true");
    EXPECT_EQ(unread.errors, "ut: standard output: cannot be written: Broken pipe\n");
    EXPECT_EQ(base::read_file(run + "/code"), "1\n");
    EXPECT_EQ(base::read_file(run + "/checkpoints/latest"), "update-00000040\n");
    const Outcome stopped =
        run_shell("cd '" + run +
                  "'; { $UT train --resume --max-updates 1000000 --run-dir . & until grep -q '\"update\":43,' "
                  "metrics.jsonl; do sleep 0.1; done; kill -TERM $!; wait $!; echo $? >code; } | true");
    EXPECT_EQ(stopped.errors, "");
    EXPECT_EQ(base::read_file(run + "/code"), "75\n");
  }
}

/// The output goes to a full pipe, like that of a pager.
TEST_F(Running, StopsOnRequestWhileItsOutputPipeIsFull) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(2) + "--ranks 2 --sequence-parallel 1 --run-dir " + run).exit_code, 0);
  const Outcome stopped = run_shell(
      "cd " + run +
      "; { head -c 65536 /dev/zero; timeout -s KILL 100 $UT train --resume --checkpoint-every 0 "
      "--evaluate-every 0 --ranks 2 --max-updates 1000000 --run-dir . & until grep -q '\"update\":43,' "
      "metrics.jsonl; do sleep 0.1; done; kill -TERM $!; wait $!; echo $? >code; } | "
      "{ until [ $(cat checkpoints/latest) != update-00000002 ] || [ -e code ]; do sleep 0.1; done; tail -c +65537; }");
  EXPECT_EQ(base::read_file(run + "/code"), "75\n");
  EXPECT_THAT(stopped.output, HasSubstr("stopped on request"));
}

TEST_F(Running, SaysWhichPositionsAreNeverLearned) {
  const std::string options =
      "train --task copy --train-length 4 --d-model 8 --heads 1 --ffn 8 --max-updates 1 --run-dir ";
  const auto said = HasSubstr(
      "the last 2 positions of the longest inputs that are scored are never learned; "
      "--random-offset 2 learns all");
  EXPECT_THAT(run_ut(options + (directory_ / "a") + " --evaluation-length 6").output, said);
  EXPECT_THAT(run_ut(options + (directory_ / "b") + " --evaluation-length 6 --random-offset 2").output, Not(said));
  EXPECT_THAT(run_ut(options + (directory_ / "c") + " --evaluation-length 4").output, Not(HasSubstr("never learned")));
}

/// Whoever starts the program, a daemon, say, may have set SIGCHLD to be ignored.
TEST_F(Running, WorksWithSigchldIgnored) {
  const Outcome ignoring = run_shell("env --ignore-signal=CHLD timeout -s KILL 60 $UT " + smallest_bench +
                                     "--ranks 2 --sequence-parallel 1");
  EXPECT_EQ(ignoring.exit_code, 0) << ignoring.errors;
}

/// Otherwise an update takes twice as long if other processes want the cores, too.
TEST_F(Running, WaitingThreadsSleepSoon) {
  const auto bench = [](const std::string& environment, const std::string& options) {
    return run_shell("env -u OMP_NUM_THREADS -u OMP_WAIT_POLICY " + environment +
                     " OMP_DISPLAY_ENV=verbose bash -c 'exec $UT " + smallest_bench + options + "'");
  };
  const auto sleep_soon = HasSubstr("GOMP_SPINCOUNT = '10000'");
  EXPECT_THAT(bench("", "--threads 2").errors, sleep_soon);
  EXPECT_THAT(bench("OMP_NUM_THREADS=2", "").errors, sleep_soon);
  EXPECT_THAT(bench("", "--ranks 2 --sequence-parallel 1 --threads 1").errors, sleep_soon);
  for (const std::string said : {"OMP_WAIT_POLICY=active", "GOMP_SPINCOUNT=7", "OMP_PROC_BIND=true"})
    EXPECT_THAT(bench(said, "--threads 2").errors, Not(sleep_soon)) << said;
  const std::string read_once = bench("", "--json --threads 2 --config <(echo batch = 3)").output;
  EXPECT_THAT(read_once, HasSubstr("\"batch\":3"));
}

/// Open MPI would put ranks on the job's other hosts.
TEST_F(Running, RanksStayOnThisMachineInAJobOfSeveral) {
  const Outcome outcome =
      run_shell("SLURM_JOBID=1 SLURM_NODELIST=$(hostname),elsewhere SLURM_TASKS_PER_NODE='1(x2)' timeout 60 $UT " +
                smallest_bench + "--ranks 2 --sequence-parallel 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
}

/// A process keeps the maximum of what ran in it before: here a program that has a gigabyte becomes ut.
TEST_F(Running, RecordsItsOwnMemoryNotThatOfItsStarter) {
  const std::string run = directory_ / "run";
  const Outcome outcome = run_shell(
      "python3 -c 'import os, sys; held = b\"x\" * 10**9; os.execv(sys.argv[1], sys.argv[1:])' $UT {} --run-dir {}",
      addition(2), run);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_LT(records_of(run, "memory_bytes").back().at("memory_bytes").get<double>(), 6e8);
}

TEST_F(Running, SaysThatItsWorkingDirectoryIsGone) {
  const std::string gone = directory_ / "gone";
  expect_refused(
      run_shell("mkdir {0}; cd {0}; rmdir {0}; $UT data stories --out {1}", gone, std::string(directory_ / "stories")),
      HasSubstr("working directory: "));
}

TEST_F(Running, WaitsForLateInputBeyondTheTimeout) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(2) + "--run-dir " + run).exit_code, 0);
  const Outcome late = run_shell("(sleep 12; echo 1+2) | $UT decode --ranks 2 --timeout 10 --run-dir " + run);
  EXPECT_EQ(late.exit_code, 0) << late.errors;
  EXPECT_EQ(std::ranges::count(late.output, '\n'), 1);
}

TEST_F(Running, SaysThatRanksAreIdleAndHowManyThreadsTheyHave) {
  for (const auto& [batch, said] :
       {std::pair("--batch 3", "--batch 3 leaves 1 of 4 ranks without work"),
        std::pair("--batch-rows 30", "--batch-rows 30 leaves [12] of 4 ranks without"),
        std::pair("--batch-rows 30 --accumulate 2", "--batch-rows 30 leaves [12] of 4 ranks without")}) {
    const Outcome outcome =
        run_ut(addition(2, "--evaluation-examples 4", batch) +
               "--threads 1 --ranks 4 --sequence-parallel 1 --run-dir '" + (directory_ / batch) + "'");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, testing::ContainsRegex(said));
    EXPECT_THAT(outcome.output, HasSubstr("4 ranks (data-parallel 4, sequence-parallel 1), 1 thread each"));
  }
}

TEST_F(Running, WorksUnderAPersonsOwnMpirun) {
  const Outcome outcome = run_shell(
      "OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 {} {} --sequence-parallel 2 "
      "--run-dir {}",
      std::getenv("UT"), addition(4), directory_ / "run");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("2 ranks,"));
  EXPECT_EQ(losses_of(directory_ / "run").size(), 4);
}

TEST_F(Running, SaysWhyMpirunCannotBeRun) {
  directory_.write("broken/mpirun", "#!/nowhere/sh\n");
  std::filesystem::permissions(directory_ / "broken/mpirun", std::filesystem::perms::owner_all);
  std::filesystem::create_directories(directory_ / "folder/mpirun");
  const auto with = [&](const std::string& path) {
    const Outcome refused = run_shell("PATH={} {} {} --ranks 2 --run-dir {}", directory_ / path, std::getenv("UT"),
                                      addition(4), directory_ / "run");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
    return refused.errors;
  };
  EXPECT_EQ(with("broken"),
            fmt::format("ut: {}: cannot be run: No such file or directory\n", directory_ / "broken/mpirun"));
  EXPECT_THAT(with("folder"), HasSubstr("mpirun is not installed"));
}

TEST_F(Running, EvaluatesAndDecodesOnRanks) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(3) + "--run-dir " + run).exit_code, 0);
  const std::string evaluate = "evaluate --json --run-dir " + run;
  const auto scores = [](const Outcome& outcome) { return outcome.output.substr(0, outcome.output.find("\"ranks\"")); };
  const Outcome one = run_ut(evaluate);
  ASSERT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_THAT(one.output, HasSubstr("\"sequences\":40"));
  for (const std::string steps : {"", " --steps 5"}) {
    const Outcome expected = run_ut(evaluate + steps);
    ASSERT_EQ(expected.exit_code, 0) << expected.errors;
    for (const std::string ranks : {" --ranks 2 --sequence-parallel 2", " --ranks 3"})
      EXPECT_EQ(scores(run_ut(evaluate + steps + ranks)), scores(expected)) << ranks << steps;
  }

  const auto decode = [&](const std::string& ranks) {
    return run_shell("printf '12+7\\n3+4\\n999+1\\n' | {} decode --run-dir {} {}", std::getenv("UT"), run, ranks);
  };
  const Outcome decoded = decode("");
  EXPECT_EQ(decoded.exit_code, 0) << decoded.errors;
  EXPECT_EQ(std::ranges::count(decoded.output, '\n'), 3);
  EXPECT_EQ(decode("--ranks 2 --sequence-parallel 2").output, decoded.output);
  EXPECT_EQ(decode("--ranks 4 --sequence-parallel 2").output, decoded.output);

  const Outcome endless =
      run_shell("(echo 1+1; head -c 1000000 /dev/zero | tr '\\0' 1; echo +1) | timeout 60 {} decode --run-dir {}",
                std::getenv("UT"), run);
  EXPECT_EQ(endless.exit_code, 2);
  EXPECT_EQ(endless.output, "");
  EXPECT_THAT(endless.errors,
              testing::MatchesRegex("ut: standard input, line 2: 10[0-9]+ symbols, needs at most 1000000 in a line\n"));
}

TEST_F(Running, ScoresTextBesideItsReferences) {
  const std::string right = directory_.write("right", "The cat sat on the mat.\nIt is 3.5 metres long.\n").string();
  const auto score = [&](const std::string& lines, const std::string& options) {
    return run_shell("printf '{}' | {} score {}", lines, std::getenv("UT"), options);
  };
  const std::string lines = "The cat sat on a mat.\\nit is 3.5 metres long.\\n";
  const Outcome one = score(lines, "--reference " + right);
  EXPECT_EQ(one.exit_code, 0) << one.errors;
  // As sacreBLEU 2.6.0 prints it.
  EXPECT_EQ(one.output,
            "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 61.87 84.6/72.7/55.6/42.9 (BP = 1.000 "
            "ratio = 1.000 hyp_len = 13 ref_len = 13)\n");
  EXPECT_THAT(score(lines, "--lowercase --tokenize intl --reference " + right + " --reference " + right).output,
              testing::StartsWith("BLEU|nrefs:2|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0 = 73.24 "));
  const Outcome short_of_lines = score("The cat\\n", "--reference " + right);
  EXPECT_EQ(short_of_lines.exit_code, 2);
  EXPECT_EQ(short_of_lines.errors, "ut: " + right + ": 2 lines, but standard input has 1; needs a line for each\n");
}

TEST_F(Running, AnAnswerOutsideTheVocabularyIsWrongButNotInTheLoss) {
  std::string passages;
  for (int line = 0; line < 16; ++line) passages += "the cat sat\na dog ran\n";
  directory_.write("lambada/train.txt", passages);
  directory_.write("lambada/lambada_development_plain_text.txt", "the cat sat\na dog ran\nthe cat yawned\n");
  directory_.write("lambada/lambada_test_plain_text.txt", "the cat sat\na dog ran\nthe cat yawned\nsat the sat\n");
  const std::string run = directory_ / "run";
  const Outcome trained = run_ut(
      "train --task lambada --data {} --d-model 16 --heads 2 --ffn 32 --steps 2 --batch 8 --dropout 0 --schedule "
      "constant --learning-rate 0.01 --label-smoothing 0 --max-updates 100 --evaluate-every 0 --threads 1 --run-dir {}",
      directory_ / "lambada", run);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  for (const std::string ranks : {"", " --ranks 2 --sequence-parallel 2"}) {
    const auto scores = json_of_ut("evaluate --json --split validation --run-dir " + run + ranks);
    EXPECT_DOUBLE_EQ(scores.at("accuracy").get<double>(), 2.0 / 3);
    EXPECT_LT(scores.at("loss").get<double>(), 0.1);
  }
  const auto groups = json_of_ut("evaluate --json --run-dir " + run).at("groups");
  EXPECT_EQ(groups.at("target in context").at("sequences"), 1);
  EXPECT_EQ(groups.at("target not in context").at("sequences"), 3);
}

TEST_F(Running, SaysWhatItWasBuiltWithAndExplainsEveryCommand) {
  const Outcome version = run_ut("--version");
  EXPECT_EQ(version.exit_code, 0);
  for (const char* part : {"LibTorch", "MPI", "CUDA", "NCCL"}) EXPECT_THAT(version.output, HasSubstr(part));
  for (const std::string command : {"train", "evaluate", "decode", "score", "data"}) {
    EXPECT_THAT(run_ut("--help").output, HasSubstr(command));
    EXPECT_THAT(run_ut(command + " --help").output, HasSubstr("--"));
  }
}

}  // namespace
}  // namespace ut::tests
