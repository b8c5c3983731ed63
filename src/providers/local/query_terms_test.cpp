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

TEST(QueryTerms, IsBounded) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "w" + std::to_string(i) + " ";
  EXPECT_EQ(query_terms(text, {}).terms.size(), kQueryTermsMax);
  const auto last_only = query_terms(std::string(kQueryBytesMax, ' ') + "late", {});
  EXPECT_TRUE(last_only.terms.empty());
}

}  // namespace
}  // namespace footnote
