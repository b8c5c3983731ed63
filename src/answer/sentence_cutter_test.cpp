#include "answer/sentence_cutter.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace footnote::answer {
namespace {

/// The units of a text that arrives in pieces (separated by |), each with the piece that completed it: "0:A. |2:B." and so on.
std::string cut(std::string_view pieces) {
  SentenceCutter cutter;
  std::string text;
  std::string out;
  std::size_t next = 0;
  int piece = 0;
  const auto tell = [&](const std::vector<SentenceUnit>& units, const std::string& when) {
    for (const SentenceUnit& unit : units) {
      EXPECT_EQ(unit.range.begin, next) << "units lie one after the other";
      next = unit.range.end;
      out += (out.empty() ? "" : "|") + when + ":" + (unit.in_code ? "code:" : "") +
             std::string(trim(std::string_view(text).substr(unit.range.begin, unit.range.size())));
    }
  };
  for (const std::string_view part : split(pieces, '|')) {
    text += part;
    tell(cutter.feed(text), std::to_string(piece++));
  }
  tell(cutter.finish(text), "end");
  EXPECT_EQ(next, text.size()) << "together they are the text";
  return out;
}

TEST(SentenceCutter, ASentenceIsCompleteWhenTheNextHasBegun) {
  EXPECT_EQ(cut("It takes three| days. |It is| free."), "2:It takes three days.|end:It is free.");
  EXPECT_EQ(cut("Only one."), "end:Only one.");
  EXPECT_EQ(cut(""), "");
}

TEST(SentenceCutter, MarkersBehindTheFullStopBelongToTheSentenceBefore) {
  EXPECT_EQ(cut("It takes three days. [1]|[2]| It is free. [3]"), "2:It takes three days. [1][2]|end:It is free. [3]");
  EXPECT_EQ(cut("It takes three days [1]. It is free [2]."), "0:It takes three days [1].|end:It is free [2].");
}

TEST(SentenceCutter, AFullStopInANumberIsNoEnd) {
  EXPECT_EQ(cut("It grew by 3.|5 percent. Then it fell."), "1:It grew by 3.5 percent.|end:Then it fell.");
}

TEST(SentenceCutter, ListItemsAreUnits) { EXPECT_EQ(cut("- first [1]\n|- second [2]\n"), "1:- first [1]|end:- second [2]"); }

TEST(SentenceCutter, CodeIsToldApart) {
  const std::string found = cut("Run this. It helps:\n\n```\nkeys rotate. Now.\n```\n\nThen wait.");
  EXPECT_NE(found.find("code:keys rotate"), std::string::npos) << found;
  EXPECT_NE(found.find("end:Then wait."), std::string::npos) << found;
}

TEST(SentenceCutter, PastTheMostUnitsTheRestIsOne) {
  SentenceCutter cutter;
  std::string text;
  for (std::size_t i = 0; i < SentenceCutter::kUnitsMax + 50; ++i) text += "Word here. ";
  EXPECT_EQ(cutter.feed(text).size(), SentenceCutter::kUnitsMax);
  EXPECT_EQ(cutter.finish(text).size(), 1U);
}

TEST(StatesSomething, ButNotEverySentenceDoes) {
  EXPECT_TRUE(states_something("Shipping within Europe takes three days."));
  EXPECT_FALSE(states_something("Yes."));
  EXPECT_FALSE(states_something("Here is what the documents say about shipping:"));
  EXPECT_FALSE(states_something("Would you like to know about returns too?"));
  EXPECT_FALSE(states_something("## Shipping within Europe and elsewhere"));
  EXPECT_FALSE(states_something("| Shipping | three days | Europe |"));
}

}  // namespace
}  // namespace footnote::answer
