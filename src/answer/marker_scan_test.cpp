#include "answer/marker_scan.h"

#include <gtest/gtest.h>

namespace footnote::answer {
namespace {

std::vector<MarkerScan::Mark> marks_of(std::initializer_list<std::string_view> pieces) {
  MarkerScan scan(2);
  for (const std::string_view piece : pieces) scan.feed(piece);
  return scan.marks();
}

TEST(MarkerScan, FindsMarkersWhereverThePiecesAreCut) {
  for (const auto& pieces :
       {std::initializer_list<std::string_view>{"\u00e4 [1] b[2]"}, {"\u00e4 [", "1", "] b[2", "]"}, {"\xc3", "\xa4 [1] b", "[2]"}}) {
    const auto marks = marks_of(pieces);
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_EQ(marks[0].source, 1u);
    EXPECT_EQ(marks[0].begin, 2u);
    EXPECT_EQ(marks[0].end, 5u);
    EXPECT_EQ(marks[1].source, 2u);
    EXPECT_EQ(marks[1].begin, 7u);
    EXPECT_EQ(marks[1].byte_begin, 8u);
  }
}

TEST(MarkerScan, NumbersThatNoSourceHasAndOtherBracketsAreNone) {
  EXPECT_TRUE(marks_of({"[0] [3] [] [a] [1a] [1.2] [99999999999999999999999999] [", "x1]"}).empty());
  EXPECT_EQ(marks_of({"[1, 2]"}).size(), 2u);
  EXPECT_EQ(marks_of({"[[1]]"}).size(), 1u);
}

TEST(MarkerScan, ItsListIsBounded) {
  MarkerScan scan(1);
  for (std::size_t i = 0; i < MarkerScan::kMarksMax + 1; ++i) scan.feed("[1]");
  EXPECT_EQ(scan.marks().size(), MarkerScan::kMarksMax);
}

}  // namespace
}  // namespace footnote::answer
