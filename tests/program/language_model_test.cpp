// Small languages whose best possible scores are known, learned in seconds.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/philox.h"
#include "tests/program/passages.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using testing::HasSubstr;

const std::string settings =
    "--d-model 32 --heads 4 --ffn 64 --steps 3 --batch 32 --threads 1 --dropout 0 --schedule constant --learning-rate "
    "0.003 --warmup 50 --beta2 0.99 --epsilon 1e-8 --label-smoothing 0 --checkpoint-every 0 --quiet ";

class LanguageModel : public testing::Test {
 protected:
  std::string run() const { return directory_ / "run"; }
  void train(const std::string& task, int updates) const {
    const Outcome outcome = run_ut("train {} --task {} --data {} --max-updates {} --run-dir {}", settings, task,
                                   directory_.path().string(), updates, run());
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  }
  nlohmann::json evaluate(const std::string& options = "") const {
    return json_of_ut(fmt::format("evaluate --json --run-dir {} {}", run(), options));
  }

  TemporaryDirectory directory_;
  base::Random random_{7};
};

/// a b c again and again, from a random start. After c comes a or x, equally likely; after x comes b.
class Cycle : public LanguageModel {
 protected:
  void SetUp() override {
    directory_.write("train.txt", passages(2000, ""));
    directory_.write("lambada_development_plain_text.txt", passages(100, "c"));
    directory_.write("lambada_test_plain_text.txt", passages(400, "c"));
    directory_.write("lambada_control_test_data_plain_text.txt", passages(200, "a"));
  }

  std::string next(const std::string& word) {
    if (word == "c") return random_.uniform(0, 1) == 0 ? "a" : "x";
    return word == "b" ? "c" : "b";
  }

  /// Passages of eight words each, so that their ends can be predicted. `before_last`: the word before the last; empty:
  /// any. If it is c, the last word is a and x in turn.
  std::string passages(int count, const std::string& before_last) {
    std::string text;
    for (int passage = 0; passage < count;) {
      std::string word(1, static_cast<char>('a' + random_.uniform(0, 2)));
      std::string line = word;
      for (int more = 0; more < 6; ++more) line += " " + (word = next(word));
      if (!before_last.empty() && word != before_last) continue;
      const char* in_turn[] = {"a", "x"};
      text += line + " " + (before_last == "c" ? in_turn[passage % 2] : next(word)) + "\n";
      ++passage;
    }
    return text;
  }
};

TEST_F(Cycle, ReachesThePerplexityOfItsGrammar) {
  train("lambada --lambada-form language-model", 400);
  const auto branch = evaluate();
  EXPECT_NEAR(branch.at("perplexity").get<double>(), 2, 0.1);
  EXPECT_NEAR(branch.at("accuracy").get<double>(), 0.5, 0.15);
  EXPECT_EQ(branch.at("sequences"), 400);
  EXPECT_EQ(branch.at("labels"), 400);
  EXPECT_NEAR(std::exp(branch.at("loss").get<double>()), branch.at("perplexity").get<double>(), 1e-9);
  const auto known = evaluate("--split control --ranks 2 --sequence-parallel 2");
  EXPECT_LT(known.at("perplexity").get<double>(), 1.02);
  EXPECT_EQ(known.at("accuracy"), 1);
  EXPECT_EQ(known.at("sequences"), 200);
  const Outcome said = run_ut("evaluate --run-dir " + run());
  EXPECT_THAT(said.output, HasSubstr("on 400 words, perplexity "));
  EXPECT_THAT(said.output, HasSubstr("mean of the "));
  const Outcome typed = run_shell("printf 'a b c x\\nb\\n' | $UT decode --run-dir {}", run());
  EXPECT_EQ(typed.output, "b\nc\n") << typed.errors;
  std::ifstream metrics(run() + "/metrics.jsonl");
  const std::string all((std::istreambuf_iterator<char>(metrics)), {});
  EXPECT_THAT(all, HasSubstr("\"perplexity\""));
  EXPECT_TRUE(branch.contains("groups"));
  EXPECT_FALSE(evaluate("--split train").contains("groups")) << "all words are labels, not the last alone";
}

TEST_F(Cycle, IsScoredByAllWordsIfRequested) {
  train("lambada --lambada-form language-model --lambada-scored all-words", 400);
  double entropy = 0;
  std::istringstream lines(base::read_file(directory_ / "lambada_test_plain_text.txt"));
  for (std::string line; std::getline(lines, line);) {
    entropy += std::log(3);  // of the first word
    for (std::size_t place = 0; place + 2 < line.size(); ++place) entropy += line[place] == 'c' ? std::log(2) : 0;
  }
  const double labels = 400 * 9;  // a passage's words and its end
  const double perplexity = std::exp(entropy / labels);
  for (const std::string mesh : {"--ranks 1", "--ranks 2 --sequence-parallel 2"}) {
    const auto all = evaluate(mesh);
    EXPECT_EQ(all.at("labels"), labels);
    EXPECT_NEAR(all.at("perplexity").get<double>(), perplexity, 0.02 * perplexity);
    EXPECT_FALSE(all.contains("groups"));
  }
  const auto last = evaluate("--lambada-scored last-word");
  EXPECT_EQ(last.at("labels"), 400);
  EXPECT_TRUE(last.contains("groups"));
  EXPECT_THAT(base::read_file(run() + "/metrics.jsonl"), testing::Not(HasSubstr("groups")));
}

TEST_F(Cycle, WritesOnAsIfItsWordsWereGivenBackToIt) {
  const std::vector<std::string> given = {"a", "c a b c x b c", "b c a"};
  const auto decode = [&](const std::vector<std::string>& lines, const std::string& options) {
    const Outcome outcome =
        run_shell("printf '{}\\n' | $UT decode --json --run-dir {} {}", fmt::join(lines, "\\n"), run(), options);
    std::istringstream text(outcome.output);
    std::vector<nlohmann::json> outputs;
    for (std::string line; std::getline(text, line);) outputs.push_back(nlohmann::json::parse(line));
    EXPECT_EQ(outputs.size(), lines.size()) << outcome.errors;
    return outputs;
  };
  for (const std::string halting : {"", " --halting act-copy --max-steps 4"}) {
    train("lambada --lambada-form language-model --dtype float64" + halting, 200);
    std::vector<std::string> texts = given;
    std::vector<double> log_probabilities(given.size());
    for (int word = 0; word < 6; ++word) {
      const auto next = decode(texts, "");
      for (std::size_t line = 0; line < texts.size(); ++line) {
        if (texts[line].ends_with("<EOS>")) continue;
        texts[line] += " " + next.at(line).at("output").get<std::string>();
        log_probabilities[line] += next[line].at("log_probability").get<double>();
      }
    }
    EXPECT_THAT(texts[1], testing::EndsWith("<EOS>")) << "passages have eight words";
    for (const std::string mesh : {"--ranks 1", "--ranks 2 --sequence-parallel 1", "--ranks 2 --sequence-parallel 2"}) {
      const auto written = decode(given, "--decode-extra 6 " + mesh);
      for (std::size_t line = 0; line < given.size(); ++line) {
        const std::string all = given[line] + " " + written.at(line).at("output").get<std::string>();
        EXPECT_EQ(texts[line], all + (texts[line].ends_with("<EOS>") ? " <EOS>" : "")) << mesh;
        EXPECT_NEAR(written[line].at("log_probability").get<double>(), log_probabilities[line], 1e-9);
        EXPECT_EQ(written[line].at("input"), given[line]);
      }
    }
    const auto searched = decode(given, "--decode-extra 6 --beam 3");
    const auto of_two = decode(given, "--decode-extra 6 --beam 3 --ranks 2 --sequence-parallel 2");
    for (std::size_t line = 0; line < given.size(); ++line)
      EXPECT_EQ(searched.at(line).at("output"), of_two.at(line).at("output"));
    std::filesystem::remove_all(run());
  }
}

TEST_F(Cycle, BestIsScoredAgainIfOtherWordsAreScored) {
  train("lambada --lambada-form language-model --lambada-scored all-words", 5);
  for (const std::string words : {"last-word", "all-words"})
    EXPECT_THAT(run_ut("train --resume --lambada-scored {} --run-dir {}", words, run()).output,
                HasSubstr("the validation examples or the scoring have changed; update 5"));
}

TEST_F(LanguageModel, PerplexityCountsOnlyWordsInTheVocabulary) {
  directory_.write("train.txt", "a b\n");
  directory_.write("lambada_development_plain_text.txt", "a b\n");
  directory_.write("lambada_test_plain_text.txt", "a b\na c\na b\nb d\nb c\n");
  train("lambada --lambada-form language-model", 1);
  for (const std::string mesh : {"--ranks 1", "--ranks 2 --sequence-parallel 1"}) {
    const auto scores = evaluate(mesh);
    EXPECT_EQ(scores.at("sequences"), 5);
    EXPECT_EQ(scores.at("labels"), 2);
  }
}

TEST_F(LanguageModel, OutputsHaveTheWordsThatWereGiven) {
  write_passages(directory_, "a b a\n");
  train("lambada --lambada-form language-model --halting act --max-steps 2", 1);
  const auto output = [&](const std::string& scored) {
    evaluate(fmt::format("--lambada-scored {} --outputs {}", scored, directory_ / "outputs"));
    return nlohmann::json::parse(base::read_file(directory_ / "outputs"));
  };
  const auto last = output("last-word");
  EXPECT_EQ(last.at("given"), nlohmann::json({"a", "b"}));
  EXPECT_EQ(last.at("wanted"), nlohmann::json({"a"}));
  EXPECT_EQ(last.at("group"), "target in context");
  const auto all = output("all-words");
  EXPECT_EQ(all.at("given"), nlohmann::json({"a", "b", "a"}));
  EXPECT_EQ(all.at("wanted"), nlohmann::json({"a", "b", "a", "<EOS>"}));
  EXPECT_FALSE(all.contains("group"));
  EXPECT_EQ(all.at("decoder_updates").size(), 4) << "with the position before the first word";
}

TEST_F(LanguageModel, AMissingSplitIsRefused) {
  write_passages(directory_, "a b\n");
  train("lambada --lambada-form language-model", 1);
  expect_refused(run_ut("evaluate --split control --run-dir " + run()), HasSubstr("--split control"));
}

/// The first noun decides; nouns of the other number stand between it and the verb.
TEST_F(LanguageModel, RanksTheFormsOfAVerb) {
  const auto sentences = [&](int count, std::int64_t attractors) {
    std::string text;
    for (int sentence = 0; sentence < count; ++sentence) {
      const bool plural = random_.uniform(0, 1) == 1;
      const auto noun = [&](bool many) {
        return fmt::format("{}{}", std::array{"cat", "dog", "owl"}[static_cast<std::size_t>(random_.uniform(0, 2))],
                           many ? "s" : "");
      };
      const auto between = attractors < 0 ? random_.uniform(0, 3) : attractors;
      text += fmt::format("{}\tthe {}", plural ? "VBP" : "VBZ", noun(plural));
      for (std::int64_t other = 0; other < between; ++other) text += " near the " + noun(!plural);
      text += '\n';
    }
    return text;
  };
  directory_.write("numpred.train", sentences(2000, -1));
  directory_.write("numpred.val", sentences(100, -1));
  for (const int attractors : {0, 1, 3})
    directory_.write(fmt::format("numpred.test.{}", attractors), sentences(100 + attractors, attractors));
  train("agreement --agreement-form language-model --halting act-copy --steps 4", 500);
  const auto scores = evaluate("--ranks 2 --sequence-parallel 1");
  EXPECT_GE(scores.at("accuracy").get<double>(), 0.97);
  EXPECT_GE(scores.at("groups").at("3 attractors").at("accuracy").get<double>(), 0.95);
  EXPECT_EQ(scores.at("groups").at("3 attractors").at("sequences"), 103);
  double sum = 0;
  for (const auto& [name, group] : scores.at("groups").items()) sum += group.at("accuracy").get<double>();
  EXPECT_NEAR(scores.at("mean_of_groups").get<double>(), sum / 3, 1e-12);
  EXPECT_TRUE(scores.at("groups").at("0 attractors").contains("ponder"));
}

/// Words that are not in the passage cannot get a share of the smoothed label.
TEST_F(LanguageModel, PointingIsNotSmoothed) {
  std::string passages;
  for (int passage = 0; passage < 40; ++passage)
    passages += fmt::format("a{0} b{1} c a{0}\n", passage % 7, passage % 5);
  write_passages(directory_, passages);
  const Outcome outcome = run_ut(
      "train --task lambada --lambada-form pointing --data {} --d-model 8 --heads 2 --ffn 8 --steps 1 --batch 40 "
      "--dropout 0 --dtype float64 --learning-rate 1e-30 --schedule constant --max-updates 1 --run-dir {}",
      directory_.path().string(), run());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NEAR(losses_of(run()).at(0), evaluate("--split train").at("loss").get<double>(), 1e-9);
}

/// The answer is the word after "by", the only word of the test texts that was ever seen.
TEST_F(LanguageModel, PointsAtWordsThatWereNeverSeen) {
  const auto passages = [&](int count, char kind) {
    std::string text;
    for (int passage = 0; passage < count; ++passage) {
      const auto word = [&] { return fmt::format("{}{}", kind, random_.uniform(0, kind == 'v' ? 20 : 999)); };
      const std::string answer = word();
      const auto others = [&](std::string& line) {
        for (auto more = random_.uniform(1, 5); more > 0; --more) line += word() + " ";
      };
      others(text);
      text += "by " + answer + " ";
      others(text);
      text += answer + "\n";
    }
    return text;
  };
  directory_.write("train.txt", passages(2000, 'v') + passages(500, 'r') + "u v\n");
  directory_.write("lambada_development_plain_text.txt", passages(100, 'v'));
  directory_.write("lambada_test_plain_text.txt", passages(300, 'n') + "by m0 m1 m2\n");
  train("lambada --lambada-form pointing --vocabulary-size 22 --transition separable-convolution", 400);
  const Outcome on_a_mesh_of_its_choice = run_ut(
      "train --task lambada --lambada-form pointing --data {} --d-model 16 --heads 2 --ffn 16 --ranks 2 --max-updates "
      "1 --evaluation-limit 4 --run-dir {}",
      directory_.path().string(), directory_ / "planned");
  EXPECT_EQ(on_a_mesh_of_its_choice.exit_code, 0) << on_a_mesh_of_its_choice.errors;
  for (const std::string mesh : {"--ranks 1", "--ranks 2 --sequence-parallel 2"}) {
    const auto scores = evaluate(mesh);
    EXPECT_EQ(scores.at("sequences"), 301);
    EXPECT_GE(scores.at("accuracy").get<double>(), 0.95);
    EXPECT_EQ(scores.at("groups").at("target not in context").at("accuracy"), 0);
    EXPECT_TRUE(scores.contains("loss"));
  }
  const Outcome typed = run_shell("printf 'v1 v2 by v3 v4\nv1 v2 by zz v4\n' | $UT decode --run-dir {}", run());
  EXPECT_EQ(typed.output, "v3\nzz\n") << typed.errors;
}

}  // namespace
}  // namespace ut::tests
