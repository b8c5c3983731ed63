#include "base/uuid.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(Uuid, EveryUsualFormReadsAsTheSame) {
  const std::string text = "550e8400-e29b-41d4-a716-446655440000";
  const auto uuid = parse_uuid(text);
  ASSERT_TRUE(uuid.has_value());
  EXPECT_EQ(to_string(*uuid), text);
  EXPECT_EQ(parse_uuid("550E8400-E29B-41D4-A716-446655440000"), uuid);
  EXPECT_EQ(parse_uuid("550e8400e29b41d4a716446655440000"), uuid);
  EXPECT_EQ(parse_uuid("urn:uuid:550e8400-e29b-41d4-a716-446655440000"), uuid);
}

TEST(Uuid, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "550e8400", "550e8400-e29b-41d4-a716-44665544000", "550e8400-e29b-41d4-a716-44665544000g",
        "550e8400+e29b-41d4-a716-446655440000", "550e8400e29b41d4a71644665544-0000", "550e8400-e29b-41d4-a716-4466554400000"}) {
    EXPECT_FALSE(parse_uuid(text).has_value()) << text;
  }
}

// Made with Python's uuid.uuid5(uuid.NAMESPACE_URL, ...).
TEST(Uuid, NamesGiveTheUuidsOfTheStandard) {
  EXPECT_EQ(to_string(uuid_of_url("https://example.org/a#0")), "f9931193-a555-59ea-9883-b9edc103b961");
  EXPECT_EQ(to_string(uuid_of_url("")), "1b4db7eb-4057-5ddf-91e0-36dec72071f5");
}

}  // namespace
}  // namespace footnote
