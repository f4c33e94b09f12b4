#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "tests/program/passages.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {

inline const std::string small =
    "--d-model 16 --heads 2 --ffn 32 --batch 8 --threads 1 --log-every 2 --evaluate-every 10 ";

/// The JSON document in a page.
inline nlohmann::json document_of(const std::string& page) {
  const std::string text = base::read_file(page);
  const std::string begin = "<script type=\"application/json\" id=\"report\">";
  const auto place = text.find(begin) + begin.size();
  return nlohmann::json::parse(text.substr(place, text.find("</script>", place) - place));
}

inline bool is_there(const std::string& program) { return run_shell("command -v " + program).exit_code == 0; }

/// Runs, and the pages and pictures that `ut report` makes of them.
class Report : public testing::Test {
 protected:
  /// A run on stories, in which positions halt. train_reverse() makes one with a decoder.
  void train_stories(const std::string& name, const std::string& options = "") const {
    const std::string stories = directory_ / "stories";
    ASSERT_EQ(run_ut("data stories --facts 1 --train 200 --validation 20 --test 30 --out " + stories).exit_code, 0);
    const Outcome trained = run_ut(
        "train --task babi --data {} {} --halting act-copy --max-steps 4 --halting-bias -0.5 --max-updates 20 {} "
        "--run-dir {}",
        stories, small, options, directory_ / name);
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }
  void train_reverse(const std::string& name, const std::string& options = "") const {
    const Outcome trained = run_ut(
        "train --task reverse --train-length 8 --evaluation-length 8 --train-examples 100 --evaluation-examples 20 {} "
        "--steps 3 --halting act-copy --decoder-halting none --max-updates 10 {} --run-dir {}",
        small, options, directory_ / name);
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }

  void train_language_model(const std::string& name) const {
    write_passages(directory_, "the owl saw the cat and the dog\nthe dog saw the cat and the owl\n");
    const Outcome trained = run_ut(
        "train --task lambada --lambada-form language-model --data {} {} --halting act-copy --max-steps 3 "
        "--max-updates 10 --run-dir {}",
        directory_.path().string(), small, directory_ / name);
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }

  /// Makes up a run directory with these metrics.
  void write_run(const std::string& name, const std::string& metrics,
                 const std::string& options = "d-model = 16\n") const {
    directory_.write(name + "/options.conf", options);
    directory_.write(name + "/metrics.jsonl", metrics);
  }

  std::string write_scaling_table() const {
    return directory_
        .write("scaling.csv",
               "kind,size,ranks,sequence_parallel,exchange,efficiency\nweak-data,256:4,1,1,none,1"
               "\nweak-data,256:4,2,1,none,0.9\n")
        .string();
  }

  nlohmann::json report(const std::string& arguments) const {
    const std::string page = directory_ / "page.html";
    const Outcome outcome = run_ut("report {} --out {}", arguments, page);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    return document_of(page);
  }

  /// One picture, as SVG.
  std::string drawn(const std::string& arguments) const {
    const std::string file = directory_ / "picture.svg";
    const Outcome outcome = run_ut("report {} --out {}", arguments, file);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return base::read_file(file);
  }

  void expect_report_refused(const std::string& arguments, const std::string& says) const {
    expect_refused(run_ut("report " + arguments), testing::HasSubstr(says));
  }

  TemporaryDirectory directory_;
};

}  // namespace ut::tests
