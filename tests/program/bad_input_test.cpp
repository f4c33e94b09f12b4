// Input that cannot be used gives one line on standard error that names it, exit code 2, and nothing written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/digest.h"
#include "base/file.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string tiny =
    "--task copy --train-length 4 --evaluation-length 4 --evaluation-examples 8 --d-model 8 --heads 2 --ffn 8 --steps "
    "1 "
    "--batch 4 --max-updates 2 ";

class BadInput : public testing::Test {
 protected:
  /// A directory of bAbI files whose training file has this text.
  std::string stories(const std::string& text) const {
    std::string directory = directory_ / "stories";
    std::filesystem::create_directories(directory);
    const std::string good = "1 Mary moved to the hall.\n2 Where is Mary?\thall\t1\n";
    std::ofstream(directory + "/qa1_train.txt") << text;
    std::ofstream(directory + "/qa1_valid.txt") << good;
    std::ofstream(directory + "/qa1_test.txt") << good;
    return directory;
  }

  std::string run_directory() const { return directory_ / "run"; }
  Outcome train(const std::string& options) const {
    return run_ut("train " + options + " --run-dir " + run_directory());
  }
  void expect_nothing_written() const { EXPECT_FALSE(std::filesystem::exists(run_directory())); }

  /// A small model that was trained for two updates.
  void make_run() const {
    const Outcome outcome = train(tiny);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  }
  std::string checkpoint_file(const std::string& name) const {
    return run_directory() + "/checkpoints/update-00000002/" + name;
  }

  TemporaryDirectory directory_;
};

TEST_F(BadInput, UnknownOptionIsNamedWithTheNearest) {
  expect_refused(train(tiny + "--lenght 3"), HasSubstr("--lenght"));
  expect_refused(train(tiny + "--d-modle 3"), AllOf(HasSubstr("--d-modle"), HasSubstr("--d-model")));
  expect_refused(run_ut("trian"), HasSubstr("trian"));
  expect_nothing_written();
}

TEST_F(BadInput, OptionOutOfRangeSaysTheRange) {
  expect_refused(train(tiny + "--dropout 1.5"), AllOf(HasSubstr("--dropout"), HasSubstr("1.5"), HasSubstr("0")));
  expect_refused(train(tiny + "--heads 3"), AllOf(HasSubstr("heads"), HasSubstr("d-model")));
  const std::string heads = "--exchange heads --ranks 4 --sequence-parallel ";
  expect_refused(train(tiny + heads + "4"),
                 AllOf(HasSubstr("--exchange heads"), HasSubstr("4 ranks cannot share the 2 heads")));
  expect_refused(train(tiny + heads + "2 --exchange-sends states"), HasSubstr("--exchange-sends states"));
  expect_refused(train(tiny + "--exchange star"), AllOf(HasSubstr("--exchange"), HasSubstr("star"), HasSubstr("ring")));
  expect_refused(train(tiny + "--batch x"), AllOf(HasSubstr("--batch"), HasSubstr("x")));
  expect_nothing_written();
}

TEST_F(BadInput, MissingFilesAreNamed) {
  expect_refused(train("--task babi --data " + directory_ / "nowhere"), HasSubstr("nowhere"));
  expect_refused(train(tiny + "--config " + directory_ / "none.conf"), HasSubstr("none.conf"));
  expect_refused(run_ut("evaluate --run-dir " + directory_ / "no-run"), HasSubstr("no-run"));
  expect_nothing_written();
}

TEST_F(BadInput, ANamedPipeIsNotWaitedFor) {
  const std::string data = stories("1 Mary moved to the hall.\n2 Where is Mary?\thall\t1\n");
  ASSERT_EQ(run_shell("rm {0}/qa1_train.txt; mkfifo {0}/qa1_train.txt", data).exit_code, 0);
  expect_refused(train("--task babi --data " + data), HasSubstr("qa1_train.txt: is a named pipe, a file is needed"));
  expect_refused(train(tiny + "--config " + data + "/qa1_train.txt"), HasSubstr("is a named pipe"));
  expect_nothing_written();
}

TEST_F(BadInput, MalformedStoryIsNamedWithFileAndLine) {
  const std::string data = stories("1 Mary moved to the hall.\n3 Where is Mary?\thall\t1\n");
  expect_refused(train("--task babi --data " + data), HasSubstr("qa1_train.txt:2:"));
  expect_refused(train("--task babi --ranks 2 --data " + data), HasSubstr("qa1_train.txt:2:"));
  expect_nothing_written();
}

TEST_F(BadInput, EmptyDataIsRefused) {
  expect_refused(train("--task babi --data " + stories("")), HasSubstr("qa1_train.txt"));
  expect_refused(train("--task babi --data " + stories("1 Mary moved to the hall.\n")), HasSubstr("qa1_train.txt"));
  expect_nothing_written();
}

TEST_F(BadInput, DataWithAnotherVocabularyIsRefused) {
  const std::string known = stories("1 Mary moved to the hall.\n2 Where is Mary?\thall\t1\n");
  ASSERT_EQ(train("--task babi --d-model 8 --heads 2 --ffn 8 --steps 1 --max-updates 1 --data " + known).exit_code, 0);
  stories("1 Zelda moved to the hall.\n2 Where is Zelda?\thall\t1\n");
  expect_refused(run_ut("evaluate --run-dir " + run_directory()), HasSubstr("vocabulary"));
  expect_refused(run_ut("train --resume --max-updates 2 --run-dir " + run_directory()), HasSubstr("vocabulary"));
}

TEST_F(BadInput, DamagedCheckpointIsRefused) {
  make_run();
  for (const std::string name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    SCOPED_TRACE(name);
    const std::string whole = base::read_file(checkpoint_file(name));
    std::string altered = whole;
    altered[altered.size() / 2] = static_cast<char>(altered[altered.size() / 2] ^ 1);
    for (const std::string& damaged : {whole.substr(0, whole.size() / 2), altered, std::string()}) {
      std::ofstream(checkpoint_file(name), std::ios::binary) << damaged;
      const std::string ranks = damaged == altered ? " --ranks 2 --sequence-parallel 1" : "";
      expect_refused(run_ut("train --resume --max-updates 4 --run-dir " + run_directory() + ranks), HasSubstr(name));
    }
    std::ofstream(checkpoint_file(name), std::ios::binary) << whole;
  }
  EXPECT_EQ(run_ut("train --resume --max-updates 4 --run-dir " + run_directory()).exit_code, 0);
}

TEST_F(BadInput, MalformedStateIsRefusedEvenWithTheRightDigest) {
  make_run();
  const std::string whole = base::read_file(checkpoint_file("state.json"));
  for (const auto& [field, value] : std::vector<std::pair<std::string, nlohmann::json>>{{"vocabulary", 7},
                                                                                        {"samples", "many"},
                                                                                        {"samples", -1},
                                                                                        {"part_of_window", 0.5},
                                                                                        {"hours", {1}},
                                                                                        {"best_update", "last"},
                                                                                        {"best_score", nullptr},
                                                                                        {"evaluated_at", true},
                                                                                        {"evaluations_since_best", -1},
                                                                                        {"update", "two"},
                                                                                        {"digests", nullptr}}) {
    SCOPED_TRACE(field);
    auto state = nlohmann::json::parse(whole);
    state.erase("digest");
    state[field] = value;
    const std::string text = state.dump();
    state["digest"] = base::digest(text.data(), text.size());
    std::ofstream(checkpoint_file("state.json")) << state.dump();
    expect_refused(run_ut("train --resume --max-updates 4 --run-dir " + run_directory()), HasSubstr("state.json"));
  }
}

TEST_F(BadInput, OptionsOfARunAreCheckedToo) {
  make_run();
  const std::string file = run_directory() + "/options.conf";
  const std::string whole = base::read_file(file);
  const auto refused_with = [&](const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
    return run_ut("evaluate --run-dir " + run_directory());
  };
  using namespace std::string_literals;
  std::string large = whole;
  for (const std::string name : {"d-model", "ffn"}) {
    const std::string small = "\n" + name + " = 8\n";
    ASSERT_NE(large.find(small), std::string::npos);
    large.replace(large.find(small), small.size(), "\n" + name + " = 1048576\n");
  }
  expect_refused(refused_with(large), HasSubstr("d-model is 1048576, but 8 in "));
  expect_refused(refused_with(whole + "ffn = 8\n"), HasSubstr("ffn: is set in line"));
  expect_refused(refused_with(whole + "\x1b[2J = \xff\n"), HasSubstr("\\x1b[2J"));
  expect_refused(refused_with(whole + "heads = 2\0\n"s), HasSubstr("options.conf"));
  expect_refused(refused_with(whole + "steps = 99999999999999999999\n"), HasSubstr("steps"));
  expect_refused(refused_with(std::string(whole).append(100'000'000, 'x')), HasSubstr("options.conf"));
  expect_refused(refused_with(""), HasSubstr("options.conf: names no task"));
  std::string other = whole;
  other.replace(other.find("\nheads = 2\n"), 11, "\nheads = 4\n");
  expect_refused(refused_with(other), HasSubstr("options.conf: heads is 4, but 2 in "));
  std::string returned = whole;
  for (std::size_t end = 0; (end = returned.find('\n', end)) != std::string::npos; end += 2) returned.insert(end, "\r");
  EXPECT_EQ(refused_with(returned).exit_code, 0);
}

TEST_F(BadInput, DirectoryInPlaceOfAFileIsRefused) {
  const std::string folder = directory_ / "folder";
  std::filesystem::create_directories(folder);
  expect_refused(train(tiny + "--config " + folder), HasSubstr("folder: is a directory"));
  expect_refused(train(tiny + "--hostfile " + folder), HasSubstr("folder: is a directory"));
  const std::string in_a_shell_of_srun = "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 $UT ";
  expect_refused(run_shell(in_a_shell_of_srun + "doctor --ranks 2 --hostfile " + folder),
                 HasSubstr("folder: is a directory"));
  expect_refused(run_ut("score --reference /dev/null < /dev/null"), HasSubstr("standard input: no lines"));
  expect_refused(run_ut("score --reference " + folder + " < /dev/null"),
                 HasSubstr("--reference " + folder + ": is a directory"));
  for (const std::string& unreadable : {std::string(" <&-"), " < " + folder})
    expect_refused(run_ut("score --reference /dev/null" + unreadable), HasSubstr("standard input: cannot be read: "));
  expect_nothing_written();
}

/// A run records names as JSON. Without this refusal it would fail at the first checkpoint.
TEST_F(BadInput, NamesMustBeUtf8) {
  const std::string data = stories("1 Mary moved to the hall.\n2 Where is Mary?\thall\t1\n");
  expect_refused(
      run_shell("other=$(printf '{}-\\344'); mv {} \"$other\"; $UT train --task babi --data \"$other\" --run-dir {}",
                data, data, run_directory()),
      HasSubstr("--data: is not UTF-8"));
  expect_nothing_written();
}

TEST_F(BadInput, NameOfTheWorkingDirectoryMustBeRecordable) {
  stories("1 Mary moved to the hall.\n2 Where is Mary?\thall\t1\n");
  for (const auto& [letter, problem] : {std::pair("\\344", "is not UTF-8"), std::pair("\\nb", "has a line break")}) {
    expect_refused(
        run_shell("here=$(printf '{}-{}'); mkdir \"$here\"; cd \"$here\"; $UT train --task babi --data . --run-dir {}",
                  run_directory(), letter, run_directory()),
        HasSubstr(std::string("--data: the name of the working directory ") + problem));
    expect_nothing_written();
  }
}

TEST_F(BadInput, NumbersThatNoMachineHoldsAreRefused) {
  for (const std::string option : {"--train-examples", "--batch", "--accumulate", "--block-layers", "--steps"})
    expect_refused(train(tiny + option + " 9223372036854775807"), HasSubstr(option));
  expect_refused(train(tiny + "--epsilon 1e-60"), HasSubstr("--epsilon"));
  expect_refused(run_ut("data stories --train 9223372036854775807 --out " + run_directory()), HasSubstr("--train: \""));
  expect_nothing_written();
}

TEST_F(BadInput, UnwritablePlacesAreRefused) {
  const std::string file = directory_.write("file", "");
  expect_refused(run_ut("bench --d-model 8 --heads 2 --profile " + directory_.path().string()),
                 HasSubstr("is a directory"));
  expect_refused(run_ut("plan --machine h100 --save-calibration " + file + "/there"), HasSubstr("--save-calibration"));
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(run_shell("mkfifo " + pipe).exit_code, 0);
  for (const std::string option : {"plan --machine h100 --save-calibration ", "data sentencepiece --data x --out "})
    expect_refused(run_ut(option + pipe), HasSubstr("pipe: is no regular file"));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  make_run();
  expect_refused(run_ut("report --no-model " + run_directory() + " --out " + directory_.path().string()),
                 HasSubstr("is a directory"));
  expect_refused(run_ut("export --run-dir {} --out {}/there", run_directory(), file),
                 HasSubstr("there: cannot be made"));
  const std::string evaluate = "evaluate --sequence-parallel 1 --run-dir " + run_directory() + " --ranks ";
  for (const std::string& command : {evaluate + "1", evaluate + "2", std::string("train --help")}) {
    const Outcome full = run_shell("$UT " + command + " > /dev/full");
    EXPECT_EQ(full.exit_code, 1) << command;
    EXPECT_EQ(full.errors, "ut: standard output: cannot be written: No space left on device\n") << command;
  }
}

/// Existing files that are given as an output by mistake.
TEST_F(BadInput, OtherFilesAreNotWrittenOver) {
  using namespace std::string_literals;
  make_run();
  const std::string run = run_directory();
  const std::string outputs = directory_ / "outputs.jsonl";
  const std::string evaluate = "evaluate --run-dir " + run + " --outputs ";
  for (int time = 0; time < 2; ++time) EXPECT_EQ(run_ut(evaluate + outputs).exit_code, 0) << "its own may be";
  for (const std::string& file :
       {run + "/options.conf", run + "/metrics.jsonl", checkpoint_file("state.json"), outputs}) {
    const std::string whole = base::read_file(file);
    for (const std::string& command :
         {evaluate, "report " + run + " --out ", "report --svg loss " + run + " --out ",
          "bench --d-model 8 --heads 2 --profile "s, "plan --machine h100 --save-calibration "s})
      if (file != outputs || command != evaluate)
        expect_refused(run_ut(command + file), HasSubstr(file + ": is there and holds something else"));
    EXPECT_EQ(base::read_file(file), whole);
  }
  const std::string log = directory_.write("log", "precious\n");
  EXPECT_EQ(run_shell("$UT " + evaluate + "/dev/stdout >> " + log).exit_code, 2);
  EXPECT_EQ(base::read_file(log), "precious\n");
}

TEST_F(BadInput, NamesMayHaveBlanks) {
  const std::string run = "'" + directory_ / "a run; with $blanks" + "'";
  const std::string data = stories("1 Mary moved to the hall.\n2 Where is Mary?\thall\t1\n");
  std::filesystem::rename(data, data + " and more");
  const Outcome trained = run_ut("train --task babi --d-model 8 --heads 2 --ffn 8 --steps 1 --max-updates 2 --data '" +
                                 data + " and more' --run-dir " + run);
  EXPECT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_EQ(run_ut("train --resume --max-updates 4 --ranks 2 --sequence-parallel 1 --run-dir " + run).exit_code, 0);
  EXPECT_EQ(run_ut("evaluate --run-dir " + run).exit_code, 0);
  EXPECT_EQ(run_ut("report " + run).exit_code, 0);
}

TEST_F(BadInput, FilesFollowTheUmaskAndLieInTheRunDirectory) {
  for (const auto& [mask, none, all] : {std::tuple("027", 027U, 0640U), std::tuple("002", 002U, 0664U)}) {
    const std::string place = directory_ / std::string("umask") + mask;
    std::filesystem::create_directories(place);
    const Outcome trained = run_shell("cd {} && umask {} && {} train {} --ranks 2 --sequence-parallel 1 --run-dir run",
                                      place, mask, std::getenv("UT"), tiny);
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
      const auto permissions = static_cast<unsigned>(entry.status().permissions());
      if (entry.is_regular_file()) {
        EXPECT_EQ(permissions, all) << entry.path();
      }
      if (entry.is_directory()) {
        EXPECT_EQ(permissions & none, 0U) << entry.path();
      }
      files += entry.is_regular_file() ? 1 : 0;
    }
    EXPECT_GE(files, 8U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1) << "something beside the run";
  }
}

TEST_F(BadInput, UnusableRunDirectoryIsRefused) {
  std::ofstream(directory_ / "file") << "not a directory";
  expect_refused(run_ut("train " + tiny + "--run-dir " + (directory_ / "file/run")), HasSubstr("file"));
  expect_refused(run_ut("train --resume --run-dir " + directory_ / "none"), HasSubstr("none"));
  make_run();
  expect_refused(train(tiny), AllOf(HasSubstr(run_directory()), HasSubstr("--resume")));
  expect_refused(run_ut("train --resume --d-model 16 --run-dir " + run_directory()), HasSubstr("--d-model"));
  const std::string nowhere = directory_ / "nowhere";
  const std::string link = directory_ / "link";
  std::filesystem::create_symlink(nowhere, link);
  for (const std::string below : {"", "/run"})
    expect_refused(run_ut("train " + tiny + "--run-dir " + link + below),
                   HasSubstr(link + " is a link to a path that does not exist"));
  const std::string records = run_directory() + "/metrics.jsonl";
  std::filesystem::rename(records, directory_ / "records");
  std::filesystem::create_symlink(nowhere + "/records", records);
  expect_refused(run_ut("train --resume --max-updates 3 --run-dir " + run_directory()),
                 HasSubstr(records + " cannot be written to"));
  std::filesystem::remove_all(run_directory() + "/checkpoints");
  std::filesystem::remove(run_directory() + "/metrics.jsonl");  // as in a run that ended before its first record
  for (const std::string ranks : {"", " --ranks 2 --sequence-parallel 1"})
    expect_refused(run_ut("train --resume --run-dir " + run_directory() + ranks), HasSubstr("leave out --resume"));
}

TEST_F(BadInput, RanksThatDoNotFitAreRefused) {
  expect_refused(train(tiny + "--sequence-parallel 2"), AllOf(HasSubstr("--sequence-parallel"), HasSubstr("1")));
  expect_refused(train(tiny + "--ranks 3 --sequence-parallel 2"), HasSubstr("--sequence-parallel"));
  expect_refused(run_shell("mpirun --quiet --allow-run-as-root --oversubscribe -n 2 {} train {} --ranks 3 --run-dir {}",
                           std::getenv("UT"), tiny, run_directory()),
                 AllOf(HasSubstr("--ranks"), HasSubstr("3"), HasSubstr("2")));
  expect_nothing_written();
}

/// Flux and prun tell a rank its number, but not the number of ranks.
TEST_F(BadInput, OtherRanksThanWereStartedAreRefused) {
  expect_refused(run_shell("PMIX_RANK=0 {} train {} --ranks 2 --run-dir {}", std::getenv("UT"), tiny, run_directory()),
                 HasSubstr("ut: --ranks: 2 given, but 1 were started; leave --ranks out"));
  expect_nothing_written();
}

TEST_F(BadInput, TooSmallAStackIsReported) {
  for (const std::string ranks : {"1", "2"})
    expect_refused(run_shell("ulimit -s 64; $UT train {} --ranks {} --run-dir {}", tiny, ranks, run_directory()),
                   HasSubstr("stack: a process may have 65.5 kB (ulimit -s), ut needs 256 kB"));
  expect_nothing_written();
}

/// With only a few MB left in TMPDIR mpirun waits for ever and says nothing.
TEST_F(BadInput, MissingRoomForMpirunIsReported) {
  for (const auto& [place, message] :
       {std::pair("/proc", "/proc: 0 MB are free, mpirun needs 16"),
        std::pair("relative", "TMPDIR relative: needs the absolute path of a directory")}) {
    expect_refused(run_shell("TMPDIR={} timeout 60 {} train {} --ranks 2 --run-dir {}", place, std::getenv("UT"), tiny,
                             run_directory()),
                   HasSubstr(message));
    expect_nothing_written();
  }
}

/// mpirun does not run with fewer open files than it needs for itself and each rank.
TEST_F(BadInput, TooFewOpenFilesForMpirunAreReported) {
  expect_refused(run_shell("ulimit -n 40; timeout -s KILL 60 {} train {} --ranks 2 --run-dir {}", std::getenv("UT"),
                           tiny, run_directory()),
                 HasSubstr("open files: at most 40 are allowed (ulimit -n), mpirun needs 50 for 2 ranks"));
  expect_nothing_written();
  const Outcome raised =
      run_shell("ulimit -S -n 30; timeout -s KILL 60 {} train {} --ranks 2 --sequence-parallel 1 --quiet --run-dir {}",
                std::getenv("UT"), tiny, run_directory());
  EXPECT_EQ(raised.exit_code, 0) << raised.errors;
}

TEST_F(BadInput, TooLittleAddressSpaceForRanksIsReported) {
  expect_refused(run_shell("ulimit -v 900000; timeout -s KILL 60 {} train {} --ranks 2 --run-dir {}", std::getenv("UT"),
                           tiny, run_directory()),
                 HasSubstr("a process may have 922 MB (ulimit -v), a rank needs 1.10 GB"));
  expect_nothing_written();
}

TEST_F(BadInput, TooSmallFilesForRanksAreReported) {
  expect_refused(run_shell("ulimit -f 1000; timeout -s KILL 60 {} train {} --ranks 2 --run-dir {}", std::getenv("UT"),
                           tiny, run_directory()),
                 HasSubstr("a process may write 512 kB (ulimit -f), a rank needs 16 MB"));
  expect_nothing_written();
}

TEST_F(BadInput, RanksOfACommandForOneProcessAreRefused) {
  const Outcome outcome =
      run_shell("mpirun --quiet --allow-run-as-root --oversubscribe -n 2 $UT data stories --out " + run_directory());
  expect_refused(outcome,
                 AllOf(HasSubstr("ut data stories: mpirun or srun has started 2"), HasSubstr("start it without")));
  expect_nothing_written();
}

/// The shell of `srun -n 4 --pty bash` tells its programs that they are rank 0 of 4.
TEST_F(BadInput, TypedCommandRunsAloneInASlurmShell) {
  const std::string command =
      "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 $UT data stories --train 2 --test 2 --out " + run_directory();
  expect_refused(run_shell(command), HasSubstr("srun has started 4"));
  expect_nothing_written();
  const Outcome typed = run_shell("script --quiet --return --command '{}' /dev/null", command);
  EXPECT_EQ(typed.exit_code, 0) << typed.output;
}

TEST_F(BadInput, UnreadableInputIsNotTakenForItsEnd) {
  make_run();
  expect_refused(run_shell("$UT decode --run-dir " + run_directory() + " < /"),
                 AllOf(HasSubstr("standard input: cannot be read"), HasSubstr("Is a directory")));
}

TEST_F(BadInput, StepsBeyondALearnedStepSignalAreRefused) {
  ASSERT_EQ(train(tiny + "--variant tensor2tensor").exit_code, 0);
  expect_refused(run_ut("evaluate --steps 2 --run-dir " + run_directory()), HasSubstr("--steps 2"));
}

}  // namespace
}  // namespace ut::tests
