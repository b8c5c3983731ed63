#include "retrieve/words.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace footnote::retrieve {
namespace {

void check_words(std::string_view text, std::string_view expected) { EXPECT_EQ(join(content_words(text), " "), expected) << text; }

TEST(Words, FunctionWordsAndSingleLettersGo) {
  check_words("How much is the travel allowance?", "allowance travel");
  check_words("Who is it that you are with?", "");
  check_words("Plan B: a 5 x 7 print", "plan print");
}

TEST(Words, SortedOnceEachInLowerCase) { check_words("Leave LEAVE leave annual", "annual leave"); }

TEST(Words, PluralAndPossessiveEndingsAreCut) {
  check_words("policies days boss's glass", "boss day glass policy");
  check_words("the company's laptops", "company laptop");
}

TEST(Words, TypographicMarksEndAWord) {
  check_words("the company\xE2\x80\x99s \xE2\x80\x9Claptops\xE2\x80\x9D", "company laptop");
  check_words(
      "leave\xE2\x80\x94paid, 20\xE2\x80\x93"
      "25",
      "20 25 leave paid");
  check_words(
      "\xC2\xABvpn\xC2\xBB\xC2\xA0"
      "access\xE2\x80\xA6",
      "access vpn");
}

TEST(Words, LettersBeyondAsciiAreLetters) { check_words("caf\xc3\xa9 Z\xc3\xbcrich", "caf\xc3\xa9 z\xc3\xbcrich"); }

TEST(Words, ShareOf) {
  EXPECT_DOUBLE_EQ(share_of(content_words("annual leave"), content_words("leave is annual")), 1.0);
  EXPECT_DOUBLE_EQ(share_of(content_words("annual leave"), content_words("sick leave")), 0.5);
  EXPECT_DOUBLE_EQ(share_of({}, content_words("sick leave")), 0.0);
}

}  // namespace
}  // namespace footnote::retrieve
