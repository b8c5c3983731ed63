#include "domain/point.h"

#include <gtest/gtest.h>

#include <limits>

namespace footnote {
namespace {

TEST(PointId, TextsReadBackAndNumbersComeFirst) {
  const PointId largest{std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(to_string(largest), "18446744073709551615");
  EXPECT_EQ(parse_point_id("18446744073709551615"), largest);
  EXPECT_FALSE(parse_point_id("18446744073709551616").has_value());
  EXPECT_FALSE(parse_point_id("-1").has_value());
  EXPECT_FALSE(parse_point_id("").has_value());
  const auto uuid = parse_point_id("00000000-0000-0000-0000-000000000000");
  ASSERT_TRUE(uuid.has_value());
  EXPECT_LT(largest, *uuid);
  EXPECT_EQ(document_key_of(PointId{7U}), "point:7");
}

TEST(PointId, APassageKeepsItsPoint) {
  EXPECT_EQ(point_of_passage("a.md", 0), point_of_passage("a.md", 0));
  EXPECT_NE(point_of_passage("a.md", 0), point_of_passage("a.md", 1));
  EXPECT_NE(point_of_passage("a.md", 0), point_of_passage("b.md", 0));
}

TEST(PayloadKind, NamesReadBack) {
  for (const PayloadKind kind : kAllPayloadKinds) EXPECT_EQ(parse_payload_kind(to_string(kind)), kind);
  EXPECT_FALSE(parse_payload_kind("keywords").has_value());
}

}  // namespace
}  // namespace footnote
