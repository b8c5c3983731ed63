#include "answer/claim_facts.h"

#include <gtest/gtest.h>

namespace footnote::answer {
namespace {

void check_fits(std::string_view claim, std::string_view evidence) {
  const auto breach = first_breach(claim, evidence);
  EXPECT_FALSE(breach) << claim << " | " << evidence;
}

void check_breach(std::string_view claim, std::string_view evidence, Breach breach) {
  const auto found = first_breach(claim, evidence);
  ASSERT_TRUE(found) << claim << " | " << evidence;
  EXPECT_EQ(*found, breach) << claim;
}

TEST(ClaimFacts, ANumberThatStandsNowhereIsABreach) {
  check_breach("Leave is 40 days.", "Leave is 27 days.", Breach::kNumber);
  check_breach("Leave is five weeks.", "Leave is three weeks.", Breach::kNumber);
  check_breach("It costs 3.5 million euros.", "It costs 3.5 thousand euros and 4 million dollars.", Breach::kNumber);
  check_breach("It took 21 days.", "It took 2 days, then 1 day.", Breach::kNumber);
}

TEST(ClaimFacts, OneNumberInItsManyForms) {
  check_fits("The kiln runs at 1240 degrees.", "Fire it at 1,240 degrees.");
  check_fits("Shipping takes 3 days.", "Shipping takes three days.");
  check_fits("Shipping takes twenty-one days.", "Shipping takes 21 days.");
  check_fits("About 5 million people.", "5,000,000 people live there.");
  check_fits("It grew by 0.50 percent.", "Growth: 0.5%.");
  check_fits("It is the 4th of its kind.", "There were 4 of them.");
  check_fits("One of them is enough.", "A single piece will do.");
  check_fits("Use version 2.3.1 of it.", "No version is named.");
}

TEST(ClaimFacts, MonthsCountBesideANumber) {
  check_breach("It opened on 4 May 1892.", "It opened on 4 June 1892.", Breach::kDate);
  check_fits("It opened in August 2016.", "Opened: 2016-08-24.");
  check_fits("It opened on Sept 4.", "It opened on 4 September.");
  check_fits("You may leave in March.", "You can leave in spring.");
}

TEST(ClaimFacts, ANameThatStandsNowhereIsABreach) {
  check_breach("The office in Bergen has a kitchen.", "The Oslo office has a kitchen.", Breach::kName);
  check_breach("NASA built it.", "ESA built it.", Breach::kName);
  check_fits("The office in Oslo's centre has a kitchen.", "OSLO: the office has a kitchen.");
  check_fits("It is an American company.", "It was founded in America.");
  check_fits("Heat Records Are a Huge Manipulation of Data", "Records of heat can be manipulated.");
  check_fits("Travel is booked by the office.", "The office books trips.");
}

TEST(ClaimFacts, ADenialNeedsOneInTheEvidence) {
  check_breach("Refunds are not possible.", "Refunds are possible within a month.", Breach::kNegation);
  check_breach("You can\u2019t return it.", "Returns are free.", Breach::kNegation);
  check_fits("Refunds are not possible.", "Refunds are excluded.");
  check_fits("It does not start.", "It never starts.");
}

TEST(ClaimFacts, NothingBreaksOnOddText) {
  check_fits("", "");
  check_fits("...", "0");
  check_fits("'", "\u2019");
  check_breach("0.", "", Breach::kNumber);
  check_breach("00.00", "1", Breach::kNumber);
  check_fits("\xE2", "\xC2");
}

TEST(ClaimFacts, Denies) {
  EXPECT_TRUE(denies("It isn't."));
  EXPECT_TRUE(denies("No one came."));
  EXPECT_FALSE(denies("Notes are kept."));
}

}  // namespace
}  // namespace footnote::answer
