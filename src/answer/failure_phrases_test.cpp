#include "answer/failure_phrases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "answer/visitor_texts.h"

namespace footnote::answer {
namespace {

bool holds(std::string_view answer, std::string_view language = "en", const std::vector<std::string_view>& cited = {}) {
  return holds_failure_phrase(answer, language, cited);
}

TEST(FailurePhrases, AnAnswerThatDoesNotKnowIsOne) {
  for (const char* answer :
       {"I don't know.", "I don\xE2\x80\x99t know when it ships [1].", "We do NOT know that.", "I'm not sure, sorry.",
        "I couldn't find anything about it.", "Unfortunately I was unable to find it.", "There is no information on that."}) {
    EXPECT_TRUE(holds(answer)) << answer;
  }
  for (const char* answer : {"", "Returns take 14 days [1].", "You will know soon.", "Surely not.", "Find your size in the table.",
                             "More information is on the page.", "Unknown senders are refused."}) {
    EXPECT_FALSE(holds(answer)) << answer;
  }
}

TEST(FailurePhrases, EachShippedLanguageHasItsOwn) {
  const std::map<std::string_view, const char*> answers = {
      {"en", "I don't know."},
      {"de", "Das weiß ich leider nicht, dazu habe ich keine Informationen."},
      {"fr", "Je ne sais pas."},
      {"es", "No lo sé."},
      {"it", "Non lo so."},
      {"pt", "Não sei."},
      {"nl", "Dat weet ik niet."},
      {"sv", "Det vet jag inte."},
      {"da", "Det ved jeg ikke."},
      {"nb", "Det vet jeg ikke."},
      {"fi", "En tiedä."},
      {"pl", "Nie wiem."},
      {"lt", "Nežinau."},
      {"ru", "Я не знаю."},
      {"cs", "Bohužel to nevím."},
      {"tr", "Üzgünüm, emin değilim."},
      {"uk", "Я цього не знаю."},
      {"ar", "عذرًا، لا أعرف."},
      {"ja", "申し訳ありませんが、わかりません。"},
      {"zh", "抱歉，我不知道。"},
  };
  for (const std::string_view language : failure_phrase_languages()) {
    ASSERT_TRUE(answers.contains(language)) << language;
    EXPECT_TRUE(holds(answers.at(language), language)) << language;
    EXPECT_TRUE(holds(answers.at(language), std::string(language) + "-XX")) << language << " of a country";
    EXPECT_TRUE(holds(answers.at(language), "")) << language << ", and the language is not known";
    EXPECT_TRUE(holds(answers.at(language), "xx")) << language;
  }
  EXPECT_EQ(answers.size(), failure_phrase_languages().size());
}

TEST(FailurePhrases, WhatWeSayOurselvesInEachShippedLanguageIsOne) {
  const auto own = visitor_text_languages();
  const auto listed = failure_phrase_languages();
  for (const std::string_view language : own) {
    EXPECT_NE(std::ranges::find(listed, language), listed.end()) << language;
    EXPECT_TRUE(holds(unknown_text(language), language)) << language;
    EXPECT_FALSE(holds(declined_text(language), language)) << language;
  }
  EXPECT_EQ(own.size(), listed.size());
}

TEST(FailurePhrases, AnotherLanguagesWordsAreNotLookedAt) {
  EXPECT_FALSE(holds("Non so dell'altro.", "de"));
  EXPECT_TRUE(holds("I don't know.", "de")) << "models fall back to English";
}

TEST(FailurePhrases, AQuotedSourceSentenceIsNone) {
  const std::string_view source = "Sizes run small. If you are not sure which size fits, order two. Returns are free.";
  EXPECT_FALSE(holds("If you are not sure which size fits, order two [1].", "en", {source}));
  EXPECT_FALSE(holds("Returns are free [2]. If you are **not sure** which size fits,\norder two [1][2].", "en", {"Other.", source}));
  EXPECT_TRUE(holds("If you are not sure which size fits, order two [1].", "en", {"Other."})) << "it stands in no cited source";
  EXPECT_TRUE(holds("If you are not sure which size fits, order two [1]. I'm not sure though.", "en", {source}));
}

TEST(FailurePhrases, APartInQuotationMarksIsTheSources) {
  const std::string_view source = "We don't know the date yet, says the maker.";
  EXPECT_FALSE(holds("The page says: \"We don't know the date yet\" [1].", "en", {source}));
  EXPECT_FALSE(holds("The page says: \xE2\x80\x9CWe don\xE2\x80\x99t know the date yet\xE2\x80\x9D [1].", "en", {source}));
  EXPECT_TRUE(holds("The page says: \"We don't know anything\" [1].", "en", {source})) << "that is no quote";
  EXPECT_TRUE(holds("I don't know; the page says: \"We don't know the date yet\" [1].", "en", {source}));
}

TEST(FailurePhrases, MarkersDoNotHideThem) {
  EXPECT_TRUE(holds("I am not [1] sure."));
  EXPECT_TRUE(holds("I am [sic] not sure [unclosed"));
}

}  // namespace
}  // namespace footnote::answer
