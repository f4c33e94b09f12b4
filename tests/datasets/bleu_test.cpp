#include "datasets/bleu.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/bad_input.h"

namespace ut::datasets {
namespace {

using Lines = std::vector<std::string>;

std::string cut(const std::string& line, BleuTokens kind, bool lower_cased = false) {
  return fmt::format("{}", fmt::join(bleu_tokens(line, kind, lower_cased), " "));
}

struct Cut {
  BleuTokens kind;
  std::string line;
  std::string tokens;
};

class CutLines : public testing::TestWithParam<Cut> {};

TEST_P(CutLines, HaveTheTokensOfTheirKind) { EXPECT_EQ(cut(GetParam().line, GetParam().kind), GetParam().tokens); }

INSTANTIATE_TEST_SUITE_P(
    Kinds, CutLines,
    testing::Values(
        // As sacreBLEU 2.6.0 cuts them.
        Cut{BleuTokens::v13a, "Hello, world! It's 3.14, or 1,000.", "Hello , world ! It's 3.14 , or 1,000 ."},
        Cut{BleuTokens::v13a, "a&quot;b &amp;lt; <skipped>x", "a \" b < x"},
        Cut{BleuTokens::v13a, "9-10 pre-war (2-)...", "9 - 10 pre-war ( 2 - ) . . ."},
        Cut{BleuTokens::v13a, "„Größe“ – 5€…", "„Größe“ – 5€…"}, Cut{BleuTokens::v13a, "\ta\u00a0b\u2003c  ", "a b c"},
        Cut{BleuTokens::international, "„Größe“ – 5€…", "„ Größe “ – 5 € …"},
        Cut{BleuTokens::international, "It's 3.14, or 1,000.", "It ' s 3.14 , or 1,000."},
        Cut{BleuTokens::international, "x²+y³ ½-Ⅷ.", "x² + y³ ½-Ⅷ."},
        Cut{BleuTokens::none, " It's  3.14, ", "It's 3.14,"},
        // As the Moses tokenizer cuts them, with compounds split.
        Cut{BleuTokens::tokenised_split, "Der Ost-West-Handel (z.B. 1,5 Mio. Euro) wächst.",
            "Der Ost ##AT##-##AT## West ##AT##-##AT## Handel ( z.B. 1,5 Mio. Euro ) wächst ."},
        Cut{BleuTokens::tokenised_split, "„Ja“, sagte Nr. 5 am 3. Mai... a-b-c",
            "„ Ja \" , sagte Nr. 5 am 3. Mai ... a ##AT##-##AT## b-c"},
        Cut{BleuTokens::tokenised_split, "a-ü-b", "a ##AT##-##AT## ü ##AT##-##AT## b"},  // ü: a byte for each hyphen
        Cut{BleuTokens::tokenised_split, "Das geht’s, 10, und Schluss. Nun Ende. dort 4,",
            "Das geht ' s , 10 , und Schluss . Nun Ende. dort 4 ,"}));

TEST(BleuTokens, LowerCaseFollowsUnicode) {
  EXPECT_EQ(cut("ÄÖÜ ΣΑΣ İ ẞ", BleuTokens::none, true), "äöü σας i\u0307 ß");
  EXPECT_EQ(cut("Nun Ende. Dort", BleuTokens::tokenised_split, true), "nun ende . dort");
}

TEST(BleuTokens, BytesThatAreNotUtf8AreNamed) {
  EXPECT_EQ(tests::bad_input([] { bleu_tokens("ab\xff", BleuTokens::none, false); }),
            "byte 3 (0xff) is not UTF-8; text in UTF-8 is needed");
  EXPECT_EQ(tests::bad_input([] {
              corpus_bleu({"a", "b"}, {{"a", "\xc3"}}, {});
            }),
            "reference 1, line 2: byte 1 (0xc3) is not UTF-8; text in UTF-8 is needed");
}

struct Corpus {
  Lines lines;
  std::vector<Lines> references;
  double score;
  std::string described;
};

class Corpora : public testing::TestWithParam<Corpus> {};

TEST_P(Corpora, ScoreAsSacreBleuSays) {
  const Bleu bleu = corpus_bleu(GetParam().lines, GetParam().references, {});
  EXPECT_NEAR(bleu.score, GetParam().score, 1e-9);
  EXPECT_EQ(describe(bleu), GetParam().described);
}

INSTANTIATE_TEST_SUITE_P(
    Small, Corpora,
    testing::Values(
        Corpus{{"the cat sat on the mat .", "a second, longer line with 3.5 things"},
               {{"the cat sat on a mat .", "a second, long line with 3.5 things"}},
               49.616830003403614,
               "49.62 86.7/69.2/45.5/22.2 (BP = 1.000 ratio = 1.000 hyp_len = 15 ref_len = 15)"},
        Corpus{{"the the the the"},
               {{"the cat the dog"}, {"a the the the"}},
               59.460355750136046,
               "59.46 75.0/66.7/50.0/50.0 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)"},
        Corpus{{"one two three four five six"},
               {{"one two three four"}, {"one two three four five six seven eight"}},
               100.00000000000004,
               "100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.500 hyp_len = 6 ref_len = 4)"},
        Corpus{
            {"a b"}, {{"a c d e f"}}, 0.0, "0.00 50.0/50.0/0.0/0.0 (BP = 0.223 ratio = 0.400 hyp_len = 2 ref_len = 5)"},
        Corpus{{"a b c d e"},
               {{"a x c y e"}},
               14.058533129758727,
               "14.06 60.0/12.5/8.3/6.2 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)"},
        Corpus{{"x y z"}, {{"a b c"}}, 0.0, "0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 3 ref_len = 3)"},
        Corpus{{""}, {{"a b c d"}}, 0.0, "0.00 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 4)"}));

TEST(Bleu, IsZeroWithoutSmoothingIfNoNGramOfAnOrderMatches) {
  const BleuOptions as_in_the_papers = {BleuTokens::tokenised_split, false};
  EXPECT_EQ(corpus_bleu({"ein Haus am See"}, {{"ein Haus im See"}}, as_in_the_papers).score, 0);
  EXPECT_GT(corpus_bleu({"ein Haus am See"}, {{"ein Haus im See"}}, {}).score, 0);
  EXPECT_NEAR(corpus_bleu({"ein Haus am See"}, {{"ein Haus am See"}}, as_in_the_papers).score, 100, 1e-9);
}

TEST(Bleu, SignatureIsSacreBleus) {
  EXPECT_EQ(bleu_signature(1, {}), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(bleu_signature(2, {BleuTokens::international, true}),
            "nrefs:2|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0");
  EXPECT_EQ(bleu_signature(1, {BleuTokens::tokenised_split, false}),
            "nrefs:1|case:mixed|eff:no|tok:tokenised-split|smooth:none");
}

TEST(Bleu, NumbersOfLinesThatDifferAreRefused) {
  EXPECT_EQ(tests::bad_input([] {
              corpus_bleu({"a", "b"}, {{"a", "b"}, {"a"}}, {});
            }),
            "reference 2: 1 lines, but there are 2 hypotheses; a line for each is needed");
}

}  // namespace
}  // namespace ut::datasets
