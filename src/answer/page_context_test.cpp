#include "answer/page_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chunk/sentences.h"

namespace footnote::answer {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> sentences_of(const std::string& text) {
  std::vector<std::string> out;
  for (const TextRange& range : chunk::split_sentences(text)) out.push_back(text.substr(range.begin, range.size()));
  return out;
}

TEST(PageContextTest, WhatStandsOnALineOfItsOwnIsQuotedByItself) {
  const PageContext page{.title = "Returns",
                         .description = "Sixty days to\n send things back",
                         .h1 = {"Returns and refunds"},
                         .h2 = {"How to send it"},
                         .visible_text = "Returns and refunds\n\n  You have 60 days. Gift cards can't be returned.\nExchanges\n"};
  EXPECT_THAT(sentences_of(text_of(page)), ElementsAre("Title: Returns", "Description: Sixty days to send things back",
                                                       "Heading: Returns and refunds", "Section: How to send it", "Returns and refunds",
                                                       "You have 60 days.", "Gift cards can't be returned.", "Exchanges"));
}

TEST(PageContextTest, TheTitleAndDescriptionForSharingAreReadUnlessTheyRepeat) {
  const PageContext page{.title = "Trail lamp",
                         .description = "A lamp",
                         .og = {{"description", "Shines for forty hours"}, {"title", "Trail lamp"}, {"unknown", "x"}}};
  EXPECT_EQ(text_of(page), "Title: Trail lamp\n\nDescription: A lamp\n\ndescription: Shines for forty hours");
}

TEST(PageContextTest, IsBoundedBetweenCodePoints) {
  const PageContext page{.title = {}, .visible_text = std::string(kPageContextBytesMax - 1, 'x') + "\u00e9"};
  EXPECT_EQ(text_of(page), std::string(kPageContextBytesMax - 1, 'x'));
}

}  // namespace
}  // namespace footnote::answer
