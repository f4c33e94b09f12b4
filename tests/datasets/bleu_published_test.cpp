#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "base/philox.h"
#include "datasets/bleu.h"
#include "datasets/unicode.h"
#include "tests/shared_data.h"

namespace ut::datasets {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::filesystem::path& file) {
  std::istringstream text(base::read_file(file));
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

class PublishedBleu : public tests::SharedData<PublishedBleu> {
 public:
  static constexpr const char* archives[] = {"bleu-reference.tar.xz"};

 protected:
  static Lines read(const std::string& file) { return lines_of(unpacked->path() / "bleu-reference" / file); }
};

TEST_F(PublishedBleu, MatchesFrenchEnglishNewstest2014) {
  const Lines lines = read("newstest2014_fren_fairseq/hyp.tok.en");
  const Lines reference = read("newstest2014_fren_fairseq/ref.tok.en");
  EXPECT_EQ(describe(corpus_bleu(lines, {reference}, {})),
            "39.69 69.4/46.3/33.3/24.6 (BP = 0.986 ratio = 0.986 hyp_len = 74884 ref_len = 75945)");
  EXPECT_NEAR(corpus_bleu(lines, {reference}, {BleuTokens::none, false}).score, 39.12622475193448, 1e-9);
}

TEST_F(PublishedBleu, MatchesGermanEnglishNewstest2013) {
  Lines reference = read("newstest2013_deen_tfnmt/deen_ref_bpe");
  for (std::string& line : reference)
    for (auto joint = line.find("@@ "); joint != std::string::npos; joint = line.find("@@ ")) line.erase(joint, 3);
  Lines lines = read("newstest2013_deen_tfnmt/deen_output");
  EXPECT_EQ(std::ranges::count(lines, ""), 3);
  std::ranges::replace(lines, "", "<empty>");  // the published number counts an empty line as one token
  EXPECT_NEAR(corpus_bleu(lines, {reference}, {BleuTokens::none, false}).score, 22.585508457350354, 1e-9);
}

TEST_F(PublishedBleu, MatchesSacreBleuOnNewstest2017) {
  const Lines reference = read("newstest2017_ende_systems/reference.de");
  const BleuOptions kinds[] = {{BleuTokens::none, false},
                               {BleuTokens::v13a, false},
                               {BleuTokens::international, false},
                               {BleuTokens::v13a, true}};
  int systems = 0;
  for (const std::string& line : read("newstest2017_ende_systems/expected_bleu.tsv")) {
    if (line.starts_with('#') || line.starts_with("system\t")) continue;
    std::istringstream columns(line);
    std::string system;
    columns >> system;
    const Lines lines = read("newstest2017_ende_systems/" + system + ".txt");
    for (const BleuOptions& kind : kinds) {
      double expected = 0;
      columns >> expected;
      EXPECT_NEAR(corpus_bleu(lines, {reference}, kind).score, expected, 1e-9) << system;
    }
    ++systems;
  }
  EXPECT_EQ(systems, 16);
}

// The result of multi-bleu.perl after the Moses scripts and the splitting of compounds, on both sides.
TEST_F(PublishedBleu, MatchesMultiBleuWithTokenisedSplit) {
  const Bleu bleu = corpus_bleu(read("newstest2017_ende_systems/newstest2017.uedin-nmt.4722.en-de.txt"),
                                {read("newstest2017_ende_systems/reference.de")}, {BleuTokens::tokenised_split, false});
  EXPECT_EQ(describe(bleu), "28.47 59.9/34.1/22.0/14.6 (BP = 1.000 ratio = 1.038 hyp_len = 64499 ref_len = 62148)");
}

/// Lines of characters that the rules treat specially: letters, digits, punctuation, symbols, spaces, ASCII and not.
Lines made_up_lines(std::int64_t count) {
  constexpr std::u32string_view characters =
      U"aZéßİΣς0195²½Ⅷ٣ .,-'\"`~|{}[]()<>&;:!?/\\@#$%^*_+=„“”’…–—«»€£©°→∑\u00a0\u2003\u3000\u0301\u200b中。、，";
  constexpr std::u32string_view entities[] = {U"&quot;", U"&amp;", U"&lt;", U"&gt;", U"&apos;", U"<skipped>"};
  base::Random random(7);
  Lines lines;
  for (std::int64_t line = 0; line < count; ++line) {
    std::u32string text;
    for (std::int64_t left = random.uniform(0, 40); left > 0; --left) {
      text += characters[static_cast<std::size_t>(random.uniform(0, std::ssize(characters) - 1))];
      if (random.uniform(0, 30) == 0) text += entities[random.uniform(0, 5)];
    }
    lines.push_back(to_utf8(text));
  }
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

TEST(SacreBleu, CutsAndScoresMadeUpLinesTheSame) {
  if (std::system("python3 -c 'import sacrebleu' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3 has no sacrebleu (pip install sacrebleu): made-up lines are not compared with it";
  const std::string script = R"python(
import sys, sacrebleu
read = lambda name: open(name, encoding="utf-8", newline="\n").read().split("\n")[:-1]
lines, first, second = (read(sys.argv[1] + name) for name in ("/lines", "/first", "/second"))
for tokens in ("13a", "intl", "none"):
    for lowercase in (False, True):
        bleu = sacrebleu.BLEU(tokenize=tokens, lowercase=lowercase)
        for line in lines: print(" ".join(bleu._preprocess_segment(line).split()))
        score = bleu.corpus_score(lines, [first, second])
        print("%.9f" % score.score)
        print(score.format(signature=bleu.get_signature().format()).replace(sacrebleu.__version__, "2.6.0"))
)python";
  const Lines lines = made_up_lines(3000);
  Lines first = lines;  // references: the lines with words added after or before
  Lines second = lines;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    first[line] += " " + lines[(line + 1) % lines.size()];
    second[line] = lines[(line + 2) % lines.size()] + second[line];
  }
  const tests::TemporaryDirectory directory;
  directory.write("lines", text_of(lines));
  directory.write("first", text_of(first));
  directory.write("second", text_of(second));
  directory.write("script.py", script);
  const std::string command = fmt::format("PYTHONIOENCODING=utf-8 python3 '{}' '{}' >'{}'", directory / "script.py",
                                          directory.path().string(), directory / "results");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Lines expected = lines_of(directory / "results");
  std::size_t next = 0;
  for (const BleuTokens kind : {BleuTokens::v13a, BleuTokens::international, BleuTokens::none}) {
    for (const bool lower_cased : {false, true}) {
      for (const std::string& line : lines) {
        std::string tokens;
        for (const std::string& token : bleu_tokens(line, kind, lower_cased))
          tokens += (tokens.empty() ? "" : " ") + token;
        ASSERT_EQ(tokens, expected.at(next++)) << line;
      }
      const Bleu bleu = corpus_bleu(lines, {first, second}, {kind, lower_cased});
      EXPECT_EQ(fmt::format("{:.9f}", bleu.score), expected.at(next++));
      EXPECT_EQ(fmt::format("BLEU|{} = {}", bleu_signature(2, {kind, lower_cased}), describe(bleu)),
                expected.at(next++));
    }
  }
  EXPECT_EQ(next, expected.size());
}

}  // namespace
}  // namespace ut::datasets
