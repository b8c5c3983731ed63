#include "retrieve/follow_up.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace footnote::retrieve {
namespace {

constexpr TurnBefore kShipping{"How long does shipping to Sweden take?", "Shipping takes three days."};
constexpr TurnBefore kAsked{"Do you have a lamp?", "Yes. Do you mean the Trail Lamp or the Garden Lamp Pro?"};

TEST(FollowUp, WithoutATurnBeforeAMessageStandsByItself) {
  EXPECT_EQ(search_text("  and Norway? ", {}), "and Norway?");
  EXPECT_FALSE(leans_on_context("", kShipping));
}

TEST(FollowUp, AFullQuestionIsSearchedForAsTyped) {
  for (const char* message : {"What does the trail lamp cost?", "How do I return a lamp?", "Is the lamp waterproof?",
                              "Can I pay by invoice?", "I would like to send my order back"}) {
    EXPECT_EQ(search_text(message, kShipping), message);
  }
}

// A limit of seven words would mix the previous turn into questions like these.
TEST(FollowUp, AShortFullQuestionIsNoFragment) {
  for (const char* message : {"What are your opening hours today?", "Do you sell gift cards?", "How much is the express delivery?",
                              "Where is my nearest store?"}) {
    EXPECT_FALSE(leans_on_context(message, kShipping)) << message;
    EXPECT_FALSE(leans_on_context(message, kAsked)) << message << ": a question of its own, though one was asked";
  }
}

TEST(FollowUp, PointingBackBringsTheQuestionBefore) {
  EXPECT_EQ(search_text("and what about parcels to Norway?", kShipping),
            "long does shipping to Sweden take? and what about parcels to Norway?");
  EXPECT_TRUE(leans_on_context("It arrived broken, who pays for that?", kShipping));
  EXPECT_TRUE(leans_on_context("Und nach Norwegen, geht das auch?", kShipping));
}

TEST(FollowUp, ThreeWordsLeanFourDoNot) {
  EXPECT_TRUE(leans_on_context("to Norway then?", kShipping));
  EXPECT_FALSE(leans_on_context("shipping to Norway costs", kShipping));
}

TEST(FollowUp, AnAnswerToOurQuestionCarriesItsNames) {
  EXPECT_EQ(search_text("the smaller one of them please", kAsked),
            "Trail Lamp Garden Lamp Pro you have a lamp? the smaller one of them please");
}

TEST(FollowUp, NamesAndWhatIsCarriedAreBounded) {
  const std::string many = "Do you mean Aa, Bb, Cc, Dd or Ee?";
  EXPECT_EQ(search_text("the last", {"x", many}), "Aa Bb Cc Dd x the last");
  const std::string longer(kFollowUpCarriedMax + 50, 'q');
  EXPECT_EQ(search_text("ok", {longer, ""}), std::string(kFollowUpCarriedMax, 'q') + " ok");
  std::string accents;
  for (int i = 0; i < 400; ++i) accents += "\u00e9";
  EXPECT_TRUE(is_valid_utf8(search_text("ok", {accents, ""})));
}

}  // namespace
}  // namespace footnote::retrieve
