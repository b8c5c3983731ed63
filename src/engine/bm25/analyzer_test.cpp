#include "engine/bm25/analyzer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::bm25 {
namespace {

void check_terms(std::string_view text, std::string_view expected, std::string_view language = "en") {
  EXPECT_EQ(join(Analyzer(language).terms(text), " "), expected) << text;
}

TEST(Analyzer, LowersStemsAndDropsStopWords) {
  check_terms("The Running of the Bulls", "run bull");
  check_terms("", "");
  check_terms("the and of", "");
  check_terms("state-of-the-art", "state art");
  check_terms("don't  DON\u2019T dont", "dont dont dont");
  check_terms("the dog's dogs' bowls", "dog dog bowl");
  check_terms("O'Neill's", "o neill");
}

TEST(Analyzer, KeepsNumbersAndAbbreviationsInOne) {
  check_terms("p < 0.001", "p 0.001");
  check_terms("the U.S. and U.S.A.", "us usa");
  check_terms("version 1.4.22", "version 1.4.22");
}

TEST(Analyzer, SplitsIdentifiersAndKeepsThemWhole) {
  check_terms("getUserName", "get user name getusernam");
  check_terms("HTTPServer", "http server httpserver");
  check_terms("max_batch_size", "max batch size max_batch_size");
  check_terms("src/base/file.h", "src base file h src/base/file.h");
  check_terms("std::vector->data", "std vector data std::vector->data");
  check_terms("and/or mg/kg", "mg kg");
  check_terms("siRNAs", "si rna sirna");
  check_terms("End.Start", "end start end.start");
}

TEST(Analyzer, FoldsAccentsAndWidth) {
  check_terms("naïve NAÏVE naive", "naiv naiv naiv");
  check_terms("Ｃａｆé", "cafe");
  check_terms("infor\u00ADmation", "inform");
  check_terms("zero\u200Bwidth", "zero width");
}

TEST(Analyzer, KnowsOtherLanguages) {
  check_terms("die Häuser der Städte", "die haus der stadt", "de");
  check_terms("l'avion qu'il continuait", "l avion qu il continu", "fr");
  check_terms("the running", "run", "xx");
  EXPECT_EQ(Analyzer::effective_language("de"), "de");
  EXPECT_EQ(Analyzer::effective_language("zh"), "en");
  EXPECT_EQ(Analyzer::effective_language(""), "en");
  EXPECT_EQ(Analyzer("ru").terms("книги"), Analyzer("ru").terms("книга"));
}

TEST(Analyzer, CutsTextsWithoutSpaces) {
  check_terms("北京大学 水", "北京 京大 大学 水");
  check_terms("東京タワー2024", "東京 京タ タワ ワー 2024");
  const auto thai = Analyzer().terms("สวัสดีชาวโลก");
  EXPECT_GE(thai.size(), 2U);
}

TEST(Analyzer, BoundsTheLengthOfTerms) {
  const auto terms = Analyzer().terms(std::string(10'000, 'q') + " " + std::string(500, 'a') + "_b");
  for (const auto& term : terms) EXPECT_LE(term.size(), Analyzer::kTermBytesMax);
  EXPECT_EQ(terms.size(), 3U) << "the long whole is left out";
}

TEST(Analyzer, MarksWholesFunctionWordsAndPlaces) {
  std::vector<std::string> seen;
  Analyzer analyzer;
  analyzer.analyze("What does parseUrl return?", [&](const Term& term) {
    seen.push_back(std::string(term.text) + "@" + std::to_string(term.word) + (term.whole ? "w" : "") + (term.function_word ? "f" : ""));
  });
  EXPECT_EQ(join(seen, " "), "what@0f doe@1f pars@2 url@2 parseurl@2w return@3");
  EXPECT_EQ(join(analyzer.content_terms("What does parseUrl parse? Parsing!"), " "), "pars url");
}

TEST(Analyzer, TakesAnyBytesAndGivesWellFormedTerms) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::size_t i = random() % 200; i > 0; --i) {
      // Mostly letters, apostrophes and joiners, mixed with arbitrary bytes.
      text.push_back(random() % 3 == 0 ? static_cast<char>(random() % 256) : "aB'._/:-\xE2\x80\x99 9"[random() % 13]);
    }
    for (const auto* language : {"en", "fr", "ru"}) {
      const auto terms = Analyzer(language).terms(text);
      EXPECT_EQ(terms, Analyzer(language).terms(text));
      for (const auto& term : terms) {
        EXPECT_FALSE(term.empty());
        EXPECT_LE(term.size(), Analyzer::kTermBytesMax);
        EXPECT_TRUE(is_valid_utf8(term)) << to_hex(term);
      }
    }
  }
}

TEST(Analyzer, HostileTextsCostLinearTime) {
  std::string apostrophes;
  std::string joiners;
  for (int i = 0; i < 200'000; ++i) apostrophes += "b'", joiners += "b.";
  EXPECT_GT(Analyzer().terms(apostrophes).size(), 1000U);
  EXPECT_GE(Analyzer().terms(joiners).size(), 1U);
  Analyzer().terms(std::string(500'000, '\''));
  Analyzer().terms(std::string(500'000, '_') + "a");
}

}  // namespace
}  // namespace footnote::bm25
