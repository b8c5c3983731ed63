#include "providers/local/query_terms.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace footnote {
namespace {

std::string words_of(std::string_view text, const std::vector<std::string>& languages) {
  std::vector<std::string> out;
  for (const auto& forms : query_terms(text, languages).words) out.push_back(join(forms, "|"));
  return join(out, " ");
}

TEST(QueryTerms, CountsTermsAndKeepsContentWords) {
  const auto terms = query_terms("What is the pump? The pumps pump.", {});
  ASSERT_EQ(terms.terms.size(), 2U);
  EXPECT_EQ(terms.terms[0].text, "what");
  EXPECT_EQ(terms.terms[1].text, "pump");
  EXPECT_EQ(terms.terms[1].weight, 3);
  EXPECT_EQ(words_of("What is the pump? The pumps pump.", {}), "pump");
  EXPECT_EQ(words_of("", {}), "");
  EXPECT_EQ(words_of("getUserName in a.b", {}), "get user name ab");
}

TEST(QueryTerms, GathersTheFormsOfSeveralLanguages) {
  EXPECT_EQ(words_of("the houses", {"de", "en"}), "hous");
  EXPECT_EQ(words_of("schnellste Autos", {"de", "en"}), "schnell|schnellst autos|auto");
  const std::vector<std::string> both = {"de", "en"};
  for (const auto& term : query_terms("auto auto", both).terms) EXPECT_EQ(term.weight, 2) << term.text;
}

std::string phrases_of(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& phrase : query_terms(text, {}).phrases) {
    for (const auto& term : phrase.front()) out.push_back(term.text + "@" + std::to_string(term.offset));
    out.emplace_back("|");
  }
  return join(out, " ");
}

TEST(QueryTerms, FindsPhrasesBetweenQuotes) {
  EXPECT_EQ(phrases_of("what does \"red foxes\" mean"), "red@0 fox@1 |");
  EXPECT_EQ(phrases_of("\"state of the art\" and \u201CbigPump\u201D"), "state@0 art@3 | big@0 pump@1 |");
  EXPECT_EQ(phrases_of("\"the\" \"\" \"open"), "") << "stop words, empty, and unclosed quotes";
  std::string many;
  for (int i = 0; i < 20; ++i) many += "\"w" + std::to_string(i) + "\" ";
  EXPECT_EQ(query_terms(many, {}).phrases.size(), kPhrasesMax);
  std::string prose = "\"red foxes\"";
  while (query_terms(prose, {}).words.size() < kPhraseQueryWordsMax) prose += " w" + std::to_string(prose.size());
  EXPECT_EQ(query_terms(prose, {}).phrases.size(), 1U);
  EXPECT_TRUE(query_terms(prose + " walrus", {}).phrases.empty()) << "quotes in prose are not phrases";
}

TEST(QueryTerms, KnowsTheWordThatIsStillTyped) {
  EXPECT_EQ(query_terms("red pumps", {}).last_word, bm25::Alternatives{"pump"});
  EXPECT_TRUE(query_terms("red pumps ", {}).last_word.empty());
  EXPECT_TRUE(query_terms("red p", {}).last_word.empty()) << "too short";
}

TEST(QueryTerms, IsBounded) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "w" + std::to_string(i) + " ";
  EXPECT_EQ(query_terms(text, {}).terms.size(), kQueryTermsMax);
  const auto last_only = query_terms(std::string(kQueryBytesMax, ' ') + "late", {});
  EXPECT_TRUE(last_only.terms.empty());
}

}  // namespace
}  // namespace footnote
