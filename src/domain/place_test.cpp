#include "domain/place.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(Places, LinesGoOnFromAMark) {
  const std::string_view text = "a\nb\n\nc\nd";
  const Places marked{PlaceUnit::kLine, {{0, 10}, {5, 40}}};
  EXPECT_EQ(place_at(marked, text, 0, 1), 10);
  EXPECT_EQ(place_at(marked, text, 2, 1), 11);
  EXPECT_EQ(place_at(marked, text, 5, 1), 40);
  EXPECT_EQ(place_at(marked, text, 7, 1), 41);
  EXPECT_EQ(place_at(Places{}, text, 7, 3), 7);
}

TEST(Places, PagesDoNot) {
  const Places pages{PlaceUnit::kPage, {{0, 1}, {4, 2}}};
  EXPECT_EQ(place_at(pages, "a\nb\nc\nd", 2, 1), 1);
  EXPECT_EQ(place_at(pages, "a\nb\nc\nd", 6, 1), 2);
}

TEST(Places, HaveNames) {
  for (const PlaceUnit unit :
       {PlaceUnit::kNone, PlaceUnit::kLine, PlaceUnit::kPage, PlaceUnit::kSlide, PlaceUnit::kRow, PlaceUnit::kCell}) {
    EXPECT_EQ(parse_place_unit(to_string(unit)), unit);
  }
  EXPECT_EQ(parse_place_unit("leaf"), std::nullopt);
  EXPECT_EQ(place_name(PlaceUnit::kPage, 12), "p. 12");
  EXPECT_EQ(place_name(PlaceUnit::kRow, 3), "row 3");
  EXPECT_EQ(place_name(PlaceUnit::kNone, 3), "");
}

}  // namespace
}  // namespace footnote
