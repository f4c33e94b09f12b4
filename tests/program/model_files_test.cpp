// Models that leave the program and come back: ut export, ut import, --average; tests/reference.py reads them.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "core/safetensors.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

constexpr const char* small_model =
    "--d-model 16 --dropout 0.1 --batch 8 --threads 1 --evaluate-every 0 --schedule constant --learning-rate 0.01 "
    "--warmup 0 ";
constexpr const char* small_universal = "--heads 2 --ffn 24 ";  // options that an LSTM does not have
constexpr const char* small_addition =
    "--task addition --train-length 7 --evaluation-length 7 --evaluation-examples 9 --train-examples 100 ";

class ModelFiles : public testing::Test {
 protected:
  void train(const std::string& options) {
    const bool is_lstm = options.find("--model lstm") != std::string::npos;
    const Outcome trained =
        run_ut("train {}{}{} --run-dir {}", small_model, is_lstm ? "" : small_universal, options, run_);
    ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  }
  /// Exports the run and returns the new directory.
  std::string exported(const std::string& options = "") {
    std::filesystem::remove_all(directory_ / "model");
    const Outcome outcome = run_ut("export --run-dir {} --out {} {}", run_, directory_ / "model", options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return directory_ / "model";
  }
  Outcome import(const std::string& model) {
    return run_ut("import --from {} --run-dir {}", model, directory_ / "again");
  }

  TemporaryDirectory directory_;
  std::string run_ = directory_ / "run";
};

TEST_F(ModelFiles, ComeBackWithTheSameBits) {
  train(std::string(small_addition) + "--max-updates 5 --halting act-copy --step-signal learned --norm pre");
  const std::string model = exported();
  const Outcome imported = import(model);
  ASSERT_EQ(imported.exit_code, 0) << imported.errors;
  const std::string again = directory_ / "again";
  EXPECT_EQ(base::read_file(model + "/model.safetensors"),
            base::read_file(again + "/checkpoints/update-00000000/model.safetensors"));
  EXPECT_EQ(base::read_file(model + "/model.safetensors"),
            base::read_file(run_ + "/checkpoints/update-00000005/model.safetensors"));
  nlohmann::json scored = json_of_ut("evaluate --json --run-dir " + run_);
  EXPECT_EQ(std::exchange(scored["updates"], {0}), nlohmann::json({5}));
  EXPECT_EQ(scored, json_of_ut("evaluate --json --run-dir " + again));
  const Outcome trained = run_ut("train --resume --max-updates 2 --run-dir " + again);
  EXPECT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_EQ(run_ut("export --run-dir {} --out {}", run_, model).exit_code, 2) << "it is there already";
  EXPECT_EQ(import(model).exit_code, 2) << "there is a run already";
}

TEST_F(ModelFiles, ExportTouchesNoOtherFiles) {
  train(std::string(small_addition) + "--max-updates 1");
  directory_.write("model.tmp/mine", "precious");
  exported();
  EXPECT_EQ(base::read_file(directory_ / "model.tmp/mine"), "precious");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, testing::UnorderedElementsAre("model", "model.tmp", "run"));
}

TEST_F(ModelFiles, MismatchesAreNamedAndNothingIsWritten) {
  train(std::string(small_addition) + "--max-updates 1");
  const std::string model = exported();
  const std::filesystem::path file = model + "/model.safetensors";
  const core::Safetensors whole = core::read_safetensors(file);
  const std::string bias = "encoder.layer0.transition.bias1";
  const auto refuses = [&](const std::string& message, const std::function<void(core::Safetensors&)>& change) {
    core::Safetensors changed = whole;
    change(changed);
    base::write_file_whole(file, core::safetensors_bytes(changed));
    const Outcome outcome = import(model);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
    EXPECT_EQ(outcome.errors, fmt::format("ut: {}: {}\n", file.string(), message));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "again"));
  };
  refuses("has no tensor " + bias + ", which the model needs", [&](auto& held) { held.tensors.erase(bias); });
  refuses("has a tensor more, which the model does not",
          [&](auto& held) { held.tensors["more"] = at::zeros({1}, at::kFloat); });
  refuses("tensor " + bias + " is Float 23, the model needs Float 24",
          [&](auto& held) { held.tensors[bias] = at::zeros({23}, at::kFloat); });
  refuses("tensor " + bias + " is Double 24, the model needs Float 24",
          [&](auto& held) { held.tensors[bias] = at::zeros({24}, at::kDouble); });
  refuses("tensor " + bias + " has values that are not finite",
          [&](auto& held) { held.tensors[bias] = at::full({24}, std::numeric_limits<float>::infinity()); });
  const auto with = [&](const std::string& option) {
    return run_ut("import {} --from {} --run-dir {}", option, model, directory_ / "again").errors;
  };
  for (const std::string option : {"--d-model 1000000", "--heads 4", "--signal halves", "--residual signal-in",
                                   "--steps 9", "--halting act", "--dtype float64"}) {
    const std::string name = option.substr(0, option.find(' '));
    EXPECT_THAT(with(option), MatchesRegex(fmt::format("ut: {}: [^ ]+ given, but the model in [^ ]+ was made with "
                                                       "[^ ]+; leave it out\n",
                                                       name)));
  }
  const std::string config = base::read_file(model + "/config.json");
  std::string other = config;
  other.replace(other.find("\"encoder_steps\": "), 18, "\"encoder_steps\": 1");
  base::write_file_whole(model + "/config.json", other);
  EXPECT_THAT(import(model).errors, HasSubstr("config.json: \"model\": encoder_steps is "));
  base::write_file_whole(model + "/config.json", config);
  base::write_file_whole(model + "/vocabulary.txt", "<pad>\n<EOS>\nx\n");
  EXPECT_THAT(import(model).errors, HasSubstr("vocabulary.txt: has other symbols"));
  base::write_file_whole(model + "/config.json", R"({"options": {"d-modle": 16}})");
  EXPECT_THAT(import(model).errors, HasSubstr("config.json: d-modle: unknown option"));
  base::write_file_whole(model + "/config.json", "[");
  EXPECT_THAT(import(model).errors, HasSubstr("config.json: not a JSON object"));
}

TEST_F(ModelFiles, AverageOfCheckpointsIsTheMeanOfTheirParameters) {
  train(std::string(small_addition) + "--max-updates 6 --checkpoint-every 2 --keep-checkpoints 3");
  const auto parameters = [](const std::string& place) { return core::read_safetensors(place + "/model.safetensors"); };
  const auto mean = parameters(exported("--average 3")).tensors;
  std::vector<core::Safetensors> parts;
  for (const char* name : {"2", "4", "6"})
    parts.push_back(parameters(fmt::format("{}/checkpoints/update-0000000{}", run_, name)));
  for (const auto& [name, tensor] : mean) {
    at::Tensor expected = at::zeros_like(tensor, at::kDouble);
    for (const core::Safetensors& part : parts) expected += part.at(name);
    EXPECT_TRUE(tensor.equal((expected / 3).to(at::kFloat))) << name;
    EXPECT_FALSE(tensor.equal(parts.back().at(name))) << name;
  }
  EXPECT_NE(json_of_ut("evaluate --teacher-forced --json --average 3 --run-dir " + run_).at("loss"),
            json_of_ut("evaluate --teacher-forced --json --run-dir " + run_).at("loss"));
  const Outcome too_many = run_ut("evaluate --average 4 --run-dir " + run_);
  EXPECT_EQ(too_many.exit_code, 2);
  EXPECT_EQ(too_many.errors, fmt::format("ut: --average 4: {}/checkpoints has 3 checkpoints; give at most that many, "
                                         "or train with a larger --keep-checkpoints\n",
                                         run_));
  for (const std::string& file : {std::string("model.safetensors"), std::string("state.json")}) {
    base::write_file_whole(run_ + "/checkpoints/update-00000004/" + file, "{}");
    expect_refused(run_ut("evaluate --average 3 --run-dir " + run_),
                   AllOf(HasSubstr("update-00000004/" + file),
                         HasSubstr("; give a smaller --average, or a whole checkpoint with --checkpoint update-N")));
  }
}

/// Tasks and variants, as options.
constexpr std::array variants{
    "",
    "--variant tensor2tensor",
    "--residual signal-in --block-layers 2 --decoder-steps 2",
    "--norm pre --transition separable-convolution --signal halves --step-signal learned",
    "--halting act --halting-bias -1 --max-steps 6 --act-output interpolated",
    "--halting act --halting-bias -1 --act-kind global --max-steps 6 --norm pre",
    "--halting act-copy --halting-bias -0.5 --max-steps 6 --block-layers 2",
    "--halting act-copy --halting-bias -0.5 --max-steps 6 --variant tensor2tensor --transition separable-convolution "
    "--block-layers 2",
    "--task babi --halting act-copy --halting-bias -0.5 --max-steps 6",
    "--task babi --norm pre",
    "--task lambada --lambada-form language-model --halting act-copy --halting-bias -0.5 --max-steps 6",
    "--task lambada --lambada-form pointing",
    "--task lambada --lambada-form pointing --norm pre --halting act-copy --halting-bias -0.5 --max-steps 6",
    "--task lambada --lambada-form pointing --vocabulary-size 3 --lambada-names 4",
    "--model lstm",
    "--model lstm --lstm-layers 2",
    "--model lstm --lstm-layers 2 --task babi",
    "--model lstm --lstm-layers 2 --task lambada --lambada-form language-model",
    "--model lstm --task lambada --lambada-form pointing"};

/// With repeated words, which are pointed at in several places.
constexpr const char* passages_text = "the cat saw the dog near a dog\na dog saw a cat run a cat\nrun cat run\n";

/// One Python process for all, since loading torch takes seconds.
TEST_F(ModelFiles, LogitsAreThoseOfTheReference) {
  const std::string python = std::getenv("UT_PYTHON") ? std::getenv("UT_PYTHON") : "python3";
  if (run_shell(python + " -c 'import torch'").exit_code != 0)
    GTEST_SKIP() << "python3 has no torch: the model is not compared with tests/reference.py (./quickstart test does)";
  const std::string stories = directory_ / "stories";
  ASSERT_EQ(run_ut("data stories --train 50 --test 20 --out " + stories).exit_code, 0);
  const std::string passages = directory_ / "passages";
  std::filesystem::create_directory(passages);
  for (const char* file : {"lambada_development_plain_text.txt", "lambada_test_plain_text.txt", "train.txt"})
    directory_.write(fmt::format("passages/{}", file), passages_text);
  std::string command = fmt::format("{} {}/tests/reference.py", python, UT_SOURCE_DIR);
  for (std::size_t number = 0; number < variants.size(); ++number) {
    const std::string variant = variants.at(number);
    SCOPED_TRACE(variant);
    const auto is_of = [&variant](const char* task) { return variant.find(task) != std::string::npos; };
    const std::string data = is_of("babi")      ? "--data " + stories
                             : is_of("lambada") ? "--data " + passages
                                                : small_addition;
    std::filesystem::remove_all(run_);
    train(fmt::format("--max-updates 10 {} {}", variant, data));
    const std::string model = fmt::format("{}-{}", directory_ / "model", number);
    std::filesystem::rename(exported("--examples 7"), model);
    const auto logits = core::read_safetensors(model + "/examples.safetensors").at("logits");
    EXPECT_GT(logits.select(1, 0).std().item<double>(), 1e-3) << "examples that are all the same would tell nothing";
    command += " " + model;
  }
  const std::string missing = directory_ / "missing";
  const Outcome compared = run_shell(command + " " + missing);
  ASSERT_THAT(compared.errors, testing::EndsWith(missing + ": no such directory\n"));
  std::istringstream differences(compared.output);
  for (const char* variant : variants) {
    double difference = 0;
    ASSERT_TRUE(differences >> difference) << variant << ": " << compared.output;
    differences.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    EXPECT_LT(difference, 1e-5) << variant;
  }
}

}  // namespace
}  // namespace ut::tests
