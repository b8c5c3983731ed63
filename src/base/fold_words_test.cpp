#include "base/fold_words.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(FoldWords, CaseSpacingAndPunctuationDoNotCount) {
  for (const char* spelling : {"refund policy", "Refund Policy", "  refund\t\npolicy  ", "refund-policy", "\"Refund policy\"?!",
                               "refund, policy.", "REFUND\xC2\xA0POLICY", "refund\xE2\x80\x94policy"}) {
    EXPECT_EQ(fold_words(spelling), "refund policy") << spelling;
  }
  EXPECT_EQ(fold_words(""), "");
  EXPECT_EQ(fold_words(" ?! - "), "");
}

TEST(FoldWords, AccentsAndCompatibilityFormsDoNotCount) {
  EXPECT_EQ(fold_words("Où est le CAFÉ?"), "ou est le cafe");
  EXPECT_EQ(fold_words("Cafe\xCC\x81"), "cafe") << "an accent on its own";
  EXPECT_EQ(fold_words("Größe"), "grosse");
  EXPECT_EQ(fold_words("grąžinimas"), "grazinimas");
  EXPECT_EQ(fold_words("\xEF\xBC\xB2\xEF\xBD\x85"
                       "fund"),
            "refund")
      << "full width";
  EXPECT_EQ(fold_words("e\xCC\x84\xEF\xAC\x81t"), "efit") << "a ligature";
  EXPECT_EQ(fold_words("don\xE2\x80\x99t"), fold_words("don't"));
}

TEST(FoldWords, VowelSignsStay) { EXPECT_NE(fold_words("\xE0\xA4\x95\xE0\xA4\xBF"), fold_words("\xE0\xA4\x95\xE0\xA5\x81")); }

TEST(FoldWords, WithoutSpacesEachCharacterIsAWord) {
  EXPECT_EQ(fold_words("我想退款"), "我 想 退 款");
  EXPECT_EQ(fold_words("iPhoneの修理"), "iphone の 修 理");
}

TEST(FoldWords, MalformedBytesSeparate) { EXPECT_EQ(fold_words("re\xFFund"), "re und"); }

}  // namespace
}  // namespace footnote
