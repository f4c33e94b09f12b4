#include "datasets/agreement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "datasets/dependencies.h"
#include "datasets/lines.h"
#include "datasets/task_options.h"
#include "tests/bad_input.h"
#include "tests/shared_data.h"

namespace ut::datasets {
namespace {

Agreement read_agreement(const std::filesystem::path& directory, AgreementForm form = AgreementForm::number_prediction,
                         double train_share = 0) {
  TaskOptions options;
  options.agreement_train_share = train_share;
  options.data = directory.string();
  options.agreement_form = form;
  return Agreement(options);
}

class AgreementFiles : public testing::Test {
 protected:
  void SetUp() override {
    directory_.write("numpred.train", "VBZ\tthe cat\nVBP\tthe cats the dog\nVBZ\tcat\n");
    directory_.write("numpred.val", "VBP\tthe owls\n");
    directory_.write("numpred.test.0", "VBZ\tthe dog\r\n");
    directory_.write("numpred.test.2", "VBP\tdogs the cat\nVBP\tcats\n");
  }
  Agreement read() const { return read_agreement(directory_.path()); }
  std::string refused() const {
    return tests::bad_input([&] { read(); });
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(AgreementFiles, WordsComeNearestFirstAfterTheVerbsPlace) {
  const Agreement task = read();
  const Example example = task.example(Split::train, 1);
  ASSERT_EQ(example.source.size(), 5u);
  EXPECT_EQ(example.source[0], std::vector<std::int64_t>{end_of_sequence_id});
  std::string words;
  for (std::size_t row = 1; row < example.source.size(); ++row) words += task.render(example.source[row]) + " ";
  EXPECT_EQ(words, "dog the cats the ");
  EXPECT_EQ(task.render({example.answer}), "VBP");
  EXPECT_TRUE(example.target.empty());
  EXPECT_EQ(task.parse("the cats  the dog").source, example.source);
  EXPECT_NE(tests::bad_input([&] { task.parse(" "); }), "");
}

TEST_F(AgreementFiles, TestFilesAreTrainedOnOnlyWithoutTrainingText) {
  std::string lines;
  for (int number = 0; number < 100; ++number) lines += fmt::format("VBZ\tthe dog {}\n", number);
  directory_.write("numpred.test.0", lines);
  directory_.write("numpred.val", lines);
  const Agreement trained = read_agreement(directory_.path(), AgreementForm::number_prediction, 0.5);
  EXPECT_EQ(trained.size(Split::train), 3);
  EXPECT_EQ(trained.size(Split::test), 102);
  EXPECT_THAT(trained.description(), testing::HasSubstr("so --agreement-train-share is ignored"));
  std::filesystem::remove(directory_.path() / "numpred.train");
  const Agreement shared = read_agreement(directory_.path(), AgreementForm::number_prediction, 0.5);
  EXPECT_GT(shared.size(Split::train), 110);
  EXPECT_LT(shared.size(Split::test), 80);
}

TEST_F(AgreementFiles, VocabularyIsThatOfTheTrainingText) {
  const Agreement task = read();
  EXPECT_EQ(task.vocabulary().text(), "<pad>\n<EOS>\n<unk>\nthe\nVBZ\ncat\nVBP\ncats\ndog\n");
  EXPECT_EQ(task.render(task.example(Split::validation, 0).source[1]), "<unk>");
}

TEST_F(AgreementFiles, TestsAreGroupedByAttractors) {
  const Agreement task = read();
  EXPECT_EQ(task.groups().size(), 7u);
  ASSERT_EQ(task.size(Split::test), 3);
  EXPECT_EQ(task.groups()[static_cast<std::size_t>(task.example(Split::test, 0).group)], "0 attractors");
  EXPECT_EQ(task.groups()[static_cast<std::size_t>(task.example(Split::test, 2).group)], "2 attractors");
  EXPECT_EQ(task.groups()[static_cast<std::size_t>(task.example(Split::train, 0).group)], "attractors unknown");
  EXPECT_THROW(task.example(Split::test, 3), std::out_of_range);
  EXPECT_NE(task.description().find("3 training, 1 validation and 3 test sentences"), std::string::npos);
  EXPECT_NE(task.description().find("missing: numpred.test.1, numpred.test.3"), std::string::npos);
}

TEST_F(AgreementFiles, BadLinesAreNamed) {
  const std::string right = "; a line is VBZ or VBP, a tab, and the words before the verb";
  const std::string file = directory_.write("numpred.test.2", "VBP\ta\nVBD\tb\n").string();
  EXPECT_EQ(refused(), file + ":2: 'VBD' before the tab" + right);
  directory_.write("numpred.test.2", "VBP\ta\n\n");
  EXPECT_EQ(refused(), file + ":2: no tab" + right);
  directory_.write("numpred.test.2", "VBP\t \n");
  EXPECT_EQ(refused(), file + ":1: no words" + right);
}

TEST_F(AgreementFiles, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const std::string before = read().vocabulary().text();
  directory_.write("numpred.train", "\xEF\xBB\xBFVBZ\tthe cat\nVBP\tthe cats the dog\nVBZ\tcat\n");
  EXPECT_EQ(read().vocabulary().text(), before);
}

TEST_F(AgreementFiles, MissingFilesAreNamed) {
  std::filesystem::remove(directory_.path() / "numpred.val");
  EXPECT_EQ(refused(), directory_ / "numpred.val" +
                           ": no such file; --data needs a directory with it and numpred.test.0 to numpred.test.5, or "
                           "with agr_50_mostcommon_10K.tsv, unpacked, or, for --agreement-form language-model, with "
                           "subj_agr_filtered.text and subj_agr_filtered.gold");
  directory_.write("numpred.val", "VBP\tthe owls\n");
  for (const std::string name : {"numpred.test.0", "numpred.test.2"}) std::filesystem::remove(directory_.path() / name);
  EXPECT_NE(refused().find("no test examples"), std::string::npos);
  std::filesystem::remove(directory_.path() / "numpred.train");  // numpred.val is then split by a hash
  EXPECT_NE(refused().find("numpred.val: none of its lines is a "), std::string::npos);
  EXPECT_EQ(tests::bad_input([] { read_agreement(""); }), "--data is needed: the directory of the numpred.* files");
}

TEST_F(AgreementFiles, MayLieInTheFoldersOfAFetch) {
  const tests::TemporaryDirectory fetched;
  EXPECT_EQ(find_agreement_directory(fetched.path().string(), AgreementForm::language_model), "");
  EXPECT_EQ(tests::bad_input([&] { read_agreement(fetched.path()); }).find(fetched / "numpred.val" + ": no such file"),
            0u);
  const std::string sentences = "linzen2016_gulordava_filtered_testset/";
  fetched.write(sentences + agreement_sentences, "a cat sleeps <eos>\n");
  EXPECT_EQ(find_agreement_directory(fetched.path().string(), AgreementForm::number_prediction), "");
  EXPECT_EQ(find_agreement_directory(fetched.path().string(), AgreementForm::language_model) / "", fetched / sentences);
  const auto below = fetched.path() / "linzen2016_rnn_agr_simple";
  std::filesystem::copy(directory_.path(), below);
  for (const AgreementForm form : {AgreementForm::number_prediction, AgreementForm::language_model}) {
    const Agreement task = read_agreement(fetched.path(), form);
    EXPECT_EQ(task.description(), read_agreement(below, form).description());
    EXPECT_EQ(task.size(Split::test), 3);
  }
}

TEST_F(AgreementFiles, ALanguageModelLearnsAllWordsAndRanksTheTwoForms) {
  const Agreement task = read_agreement(directory_.path(), AgreementForm::language_model);
  EXPECT_FALSE(task.has_source());
  EXPECT_FALSE(task.is_judged_by_loss()) << "but by how often the right form is likelier";
  EXPECT_EQ(task.render(task.example(Split::train, 1).target), "the cats the dog VBP <EOS>");
  EXPECT_EQ(task.example(Split::train, 1).rival, no_answer);
  const Example asked = task.example(Split::test, 1);
  EXPECT_EQ(task.render(asked.target), "<unk> the cat VBP");
  EXPECT_EQ(asked.first_label, 3);
  EXPECT_EQ(task.render({asked.rival}), "VBZ");
  EXPECT_EQ(task.groups()[static_cast<std::size_t>(asked.group)], "2 attractors");
}

/// A table in the published format, large enough for every split.
class AgreementTable : public testing::Test {
 protected:
  static constexpr int lines = 3000;

  void SetUp() override {
    std::string table = "sentence\tverb_pos\tn_intervening\tn_diff_intervening\tverb_index\n";
    for (int line = 0; line < lines; ++line) {
      table += fmt::format("the cats{} by trees and by the tree sleep well\tVBP\t2\t{}\t9\n", line, line % 2 + 1);
      table += fmt::format("a cat{} sleeps\tVBZ\t0\t0\t3\n", line);
      table += fmt::format("an owl{} 's\tVBZ\t6\t6\t3\n", line);
      table += fmt::format("sleeps cat{}\tVBZ\t0\t0\t1\n", line);
    }
    directory_.write(dependencies_table, table);
  }
  std::map<std::string, int> groups(const Agreement& task, Split split) const {
    std::map<std::string, int> counts;
    for (std::int64_t index = 0; index < task.size(split); ++index)
      ++counts[task.groups()[static_cast<std::size_t>(task.example(split, index).group)]];
    return counts;
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(AgreementTable, IsSplitAsByItsAuthorsAndTestedOnAttractors) {
  const Agreement task = read_agreement(directory_.path());
  // `share` of one kind's lines, within five standard deviations.
  const auto expect_share = [](int found, double share) {
    EXPECT_NEAR(found, lines * share, 5 * std::sqrt(lines * share * (1 - share)));
  };
  const auto train = groups(task, Split::train);
  EXPECT_EQ(train.size(), 3u);
  expect_share(train.at("0 attractors"), 0.09);
  expect_share(train.at("2 attractors"), 0.09 / 2);
  expect_share(train.at("attractors unknown"), 0.09 / 2 + 0.09);
  const auto validation = groups(task, Split::validation);
  EXPECT_EQ(validation.size(), 3u);
  expect_share(validation.at("0 attractors"), 0.01);
  const auto test = groups(task, Split::test);
  EXPECT_EQ(test.size(), 2u);
  expect_share(test.at("0 attractors"), 0.9);
  expect_share(test.at("2 attractors"), 0.9 / 2);
}

TEST_F(AgreementTable, HasTheWordsBeforeTheVerb) {
  const Agreement task = read_agreement(directory_.path());
  EXPECT_NE(task.description().find(directory_ / dependencies_table), std::string::npos);
  for (std::int64_t index = 0; index < task.size(Split::train); ++index) {
    const Example example = task.example(Split::train, index);
    const bool plural = task.render({example.answer}) == "VBP";
    ASSERT_EQ(example.source.size(), plural ? 9u : 3u);
    EXPECT_EQ(plural, task.render(example.source[1]) == "tree");
  }
}

TEST_F(AgreementTable, ALanguageModelLearnsUpToTheVerbAndRanksItsForms) {
  const Agreement task = read_agreement(directory_.path(), AgreementForm::language_model);
  std::set<std::string> learned;
  for (std::int64_t index = 0; index < task.size(Split::train); ++index) {
    const auto& target = task.example(Split::train, index).target;
    learned.insert(task.render({target[target.size() - 2]}));
  }
  EXPECT_EQ(learned, (std::set<std::string>{"sleep", "sleeps", "VBZ"}));
  std::set<std::string> asked;
  for (std::int64_t index = 0; index < task.size(Split::test); ++index) {
    const Example example = task.example(Split::test, index);
    asked.insert(task.render({example.target.back()}) + " or " + task.render({example.rival}));
  }
  EXPECT_EQ(asked, (std::set<std::string>{"sleep or sleeps", "sleeps or sleep"}));
}

TEST_F(AgreementTable, IgnoresTheTrainShareAndYieldsToTheFilesMadeOfIt) {
  const Agreement shared = read_agreement(directory_.path(), AgreementForm::number_prediction, 0.5);
  EXPECT_EQ(shared.size(Split::test), read_agreement(directory_.path()).size(Split::test));
  EXPECT_NE(shared.description().find("its own split, so --agreement-train-share is ignored"), std::string::npos);
  for (const std::string file : {"linzen2016_rnn_agr_simple/numpred.val", "numpred.val"}) {
    directory_.write(file, "VBD\tthe owls\n");
    EXPECT_NE(tests::bad_input([&] { read_agreement(directory_.path()); }).find(file + ":1: 'VBD' before the tab"),
              std::string::npos);
  }
}

/// Whole sentences, enough for every split.
class AgreementSentences : public testing::Test {
 protected:
  void SetUp() override {
    for (int sentence = 0; sentence < 60; ++sentence) {
      text_ += fmt::format("the cats by the tree{} sleep well <eos>\n", sentence);
      gold_ += "5\tsleep\tsleeps\t1\n";
      text_ += fmt::format("a cat{} sleeps <eos>\n", sentence);
      gold_ += "2\tsleeps\tsleep\t0\n";
    }
    write();
  }
  void write() const {
    directory_.write("subj_agr_filtered.text", text_);
    directory_.write("subj_agr_filtered.gold", gold_);
  }
  Agreement read() const { return read_agreement(directory_.path(), AgreementForm::language_model); }
  std::string refused() const {
    return tests::bad_input([&] { read(); });
  }

  tests::TemporaryDirectory directory_;
  std::string text_;
  std::string gold_;
};

TEST_F(AgreementSentences, AreLearnedWholeAndAskedForTheVerb) {
  const Agreement task = read();
  EXPECT_EQ(task.size(Split::train) + task.size(Split::validation) + task.size(Split::test), 120);
  for (const Split split : all_splits) {
    ASSERT_GT(task.size(split), 2);
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const Example example = task.example(split, index);
      const std::string words = task.render(example.target);
      if (split == Split::train) {
        EXPECT_TRUE(words.ends_with(example.group == 1 ? "sleep well <EOS>" : "sleeps <EOS>")) << words;
        EXPECT_EQ(example.first_label, 0);
      } else {
        EXPECT_TRUE(words.ends_with(example.group == 1 ? " sleep" : " sleeps")) << words;
        EXPECT_EQ(example.first_label, std::ssize(example.target) - 1);
        EXPECT_EQ(task.render({example.rival}), example.group == 1 ? "sleeps" : "sleep");
      }
    }
  }
}

TEST_F(AgreementSentences, FormsThatWereNeverSeenAreWrong) {
  gold_.replace(gold_.find("sleeps"), 6, "snores");
  for (std::size_t at = 0; (at = gold_.find("\tsleeps\t1", at)) != std::string::npos;) gold_.replace(at, 7, "\tsnores");
  write();
  const Agreement task = read();
  for (std::int64_t index = 0; index < task.size(Split::test); ++index) {
    const Example example = task.example(Split::test, index);
    EXPECT_EQ(example.target.back() == no_answer, example.group == 1);
  }
}

TEST_F(AgreementSentences, MismatchedFilesAreNamed) {
  const std::string gold = directory_ / "subj_agr_filtered.gold";
  const std::string text = directory_ / "subj_agr_filtered.text";
  directory_.write("subj_agr_filtered.gold", gold_ + gold_.substr(0, gold_.find('\n') + 1));
  EXPECT_EQ(refused(), text + ": 120 sentences, but subj_agr_filtered.gold has 121 lines; needs one for each");
  directory_.write("subj_agr_filtered.gold", "7" + gold_.substr(1));
  EXPECT_EQ(refused(), text + ":1: 7 words, but subj_agr_filtered.gold has the verb at 7, counted from 0");
  for (const std::string bad :
       {"0\ta\tb\t1", "x\ta\tb\t1", "1\ta\tb", "1\ta\tb\t6", "", "99999999999999999999\ta\tb\t1"}) {
    directory_.write("subj_agr_filtered.gold", bad + "\n" + gold_);
    EXPECT_EQ(refused().find(gold + ":1: '" + base::printable_line(bad) + "'; a line is the verb's place"), 0u)
        << refused();
  }
  std::filesystem::remove(gold);
  EXPECT_EQ(refused(), gold + ": no such file; it says where the verb is in each line of subj_agr_filtered.text");
}

TEST_F(AgreementSentences, IgnoreTheTrainShare) {
  const Agreement shared = read_agreement(directory_.path(), AgreementForm::language_model, 0.5);
  EXPECT_EQ(shared.size(Split::test),
            read_agreement(directory_.path(), AgreementForm::language_model).size(Split::test));
}

class PublishedAgreement : public tests::SharedData<PublishedAgreement> {
 public:
  static constexpr const char* archives[] = {"agreement.tar.xz"};
};

TEST_F(PublishedAgreement, HasItsCountsAndASplitOfNumpredVal) {
  const Agreement task = read_agreement(unpacked->path() / "agreement/linzen2016_rnn_agr_simple");
  EXPECT_EQ(task.size(Split::train) + task.size(Split::validation), 15772);
  EXPECT_NEAR(static_cast<double>(task.size(Split::validation)), 1577, 120);
  std::map<std::int64_t, std::int64_t> by_attractors;
  std::map<std::string, std::int64_t> verbs;
  std::size_t longest = 0;
  for (const Split split : all_splits) {
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const Example example = task.example(split, index);
      longest = std::max(longest, example.source.size() - 1);
      if (split == Split::test)
        ++by_attractors[example.group];
      else
        ++verbs[task.render({example.answer})];
    }
  }
  const std::map<std::int64_t, std::int64_t> published = {{1, 52599}, {2, 9380}, {3, 2051}, {4, 561}, {5, 159}};
  EXPECT_EQ(by_attractors, published);
  const std::map<std::string, std::int64_t> of_each = {{"VBZ", 10763}, {"VBP", 5009}};
  EXPECT_EQ(verbs, of_each);
  EXPECT_EQ(longest, 48u);
}

TEST_F(PublishedAgreement, AShareOfEachTestFileCanBeTrainedOn) {
  const auto directory = unpacked->path() / "agreement/linzen2016_rnn_agr_simple";
  const Agreement whole = read_agreement(directory);
  for (const AgreementForm form : {AgreementForm::number_prediction, AgreementForm::language_model}) {
    const Agreement task = read_agreement(directory, form, 0.5);
    EXPECT_EQ(task.size(Split::validation), whole.size(Split::validation));
    std::map<Split, std::map<std::int64_t, double>> by_attractors;
    for (const Split split : {Split::train, Split::test})
      for (std::int64_t index = 0; index < task.size(split); ++index)
        ++by_attractors[split][task.example(split, index).group];
    EXPECT_EQ(by_attractors[Split::train][6], whole.size(Split::train)) << "those of numpred.val";
    const std::map<std::int64_t, double> published = {{1, 52599}, {2, 9380}, {3, 2051}, {4, 561}, {5, 159}};
    for (const auto& [attractors, count] : published) {
      EXPECT_EQ(by_attractors[Split::train][attractors] + by_attractors[Split::test][attractors], count);
      EXPECT_NEAR(by_attractors[Split::test][attractors] / count, 0.5, 2 / std::sqrt(count)) << attractors;
    }
  }
}

TEST_F(PublishedAgreement, WholeSentencesHaveTheirCounts) {
  const Agreement task = read_agreement(unpacked->path() / "agreement/linzen2016_gulordava_filtered_testset",
                                        AgreementForm::language_model);
  std::map<std::int64_t, std::int64_t> by_attractors;
  std::int64_t unknown = 0;
  for (const Split split : all_splits)
    for (std::int64_t index = 0; index < task.size(split); ++index) {
      const Example example = task.example(split, index);
      ++by_attractors[example.group];
      unknown += example.target.back() == no_answer ? 1 : 0;
    }
  const std::map<std::int64_t, std::int64_t> published = {{0, 1972}, {1, 1957}, {2, 1943}, {3, 1287}, {4, 330}};
  EXPECT_EQ(by_attractors, published);
  EXPECT_NEAR(static_cast<double>(task.size(Split::test)), 0.2 * 7489, 120);
  EXPECT_LT(static_cast<double>(unknown), 0.05 * 0.3 * 7489);
}

TEST_F(PublishedAgreement, SetsThatNoTaskReadsHaveTheirCounts) {
  const auto for_each_line_of = [](const std::string& file, const auto& use) {
    for_each_line(base::read_file(unpacked->path() / "agreement" / file), use);
  };
  std::map<std::string, std::size_t> cases;
  for_each_line_of("marvin_linzen2018/minimal_pairs.tsv", [&](std::size_t number, std::string_view line) {
    if (number > 1) ++cases[std::string(line.substr(0, line.find('\t')))];
  });
  std::size_t items = 0;
  for (const auto& [name, count] : cases) items += count;
  EXPECT_EQ(items, 163124u);
  EXPECT_EQ(cases.size(), 22u);
  for (const auto& [name, count] : std::map<std::string, std::size_t>{{"simple_agrmt", 140},
                                                                      {"sent_comp", 1680},
                                                                      {"prep_anim", 16800},
                                                                      {"subj_rel", 11200},
                                                                      {"reflexives_across", 22400},
                                                                      {"npi_across_inanim", 5760}})
    EXPECT_EQ(cases[name], count) << name;
  for (const auto& [name, lines] :
       std::map<std::string, std::size_t>{{"generated.text", 410}, {"generated.tab", 821}}) {
    std::size_t last = 0;
    for_each_line_of("gulordava2018_english/" + name, [&](std::size_t number, std::string_view) { last = number; });
    EXPECT_EQ(last, lines) << name;
  }
}

TEST_F(PublishedAgreement, NoSentenceIsTrainedOnAndValidated) {
  const Agreement task = read_agreement(unpacked->path() / "agreement/linzen2016_rnn_agr_simple");
  std::set<std::vector<std::vector<std::int64_t>>> trained;
  for (std::int64_t index = 0; index < task.size(Split::train); ++index)
    trained.insert(task.example(Split::train, index).source);
  std::int64_t both = 0;
  for (std::int64_t index = 0; index < task.size(Split::validation); ++index)
    both += trained.contains(task.example(Split::validation, index).source) ? 1 : 0;
  EXPECT_LT(both, 10);  // equal except for the verb or for unknown words
}

}  // namespace
}  // namespace ut::datasets
