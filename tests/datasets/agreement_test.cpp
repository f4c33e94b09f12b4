#include "datasets/agreement.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "tests/bad_input.h"
#include "tests/shared_data.h"

namespace ut::datasets {
namespace {

constexpr Split all_splits[] = {Split::train, Split::validation, Split::test};

Agreement read(const std::filesystem::path& directory) {
  TaskOptions options;
  options.data = directory.string();
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
  Agreement read() const { return datasets::read(directory_.path()); }
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

TEST_F(AgreementFiles, MissingFilesAreNamed) {
  std::filesystem::remove(directory_.path() / "numpred.val");
  EXPECT_EQ(refused(), directory_ / "numpred.val" + ": no such file");
  directory_.write("numpred.val", "VBP\tthe owls\n");
  for (const std::string name : {"numpred.test.0", "numpred.test.2"}) std::filesystem::remove(directory_.path() / name);
  EXPECT_NE(refused().find("no test examples"), std::string::npos);
  EXPECT_EQ(tests::bad_input([] { datasets::read(""); }), "--data is needed: the directory of the numpred.* files");
}

class PublishedAgreement : public tests::SharedData<PublishedAgreement> {
 public:
  static constexpr const char* archives[] = {"agreement.tar.xz"};
};

TEST_F(PublishedAgreement, HasItsCountsAndASplitOfNumpredVal) {
  const Agreement task = read(unpacked->path() / "agreement/linzen2016_rnn_agr_simple");
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

TEST_F(PublishedAgreement, NoSentenceIsTrainedOnAndValidated) {
  const Agreement task = read(unpacked->path() / "agreement/linzen2016_rnn_agr_simple");
  std::set<std::vector<std::vector<std::int64_t>>> trained;
  for (std::int64_t index = 0; index < task.size(Split::train); ++index)
    trained.insert(task.example(Split::train, index).source);
  std::int64_t both = 0;
  for (std::int64_t index = 0; index < task.size(Split::validation); ++index)
    both += trained.contains(task.example(Split::validation, index).source) ? 1 : 0;
  EXPECT_LT(both, 10);  // the same words with the other verb, or with other words that are unknown
}

}  // namespace
}  // namespace ut::datasets
